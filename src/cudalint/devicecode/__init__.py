"""What rules on device code share: barriers, atomics, shared memory, values by thread."""
