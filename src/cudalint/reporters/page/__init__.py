"""What pages of HTML share: the frame, the style, the scripts. What they say is not here."""
