
"use strict";
(() => {
  const form = document.querySelector(".filters");
  const findings = [...document.querySelectorAll(".finding")];
  const files = [...document.querySelectorAll(".file")];
  const shown = form.querySelector("output");

  const apply = () => {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const levels = new Set([...form.querySelectorAll("[name=level]:checked")].map((box) => box.value));
    const rule = form.elements.rule.value;
    const silenced = form.elements.suppressed?.checked ?? false;
    let count = 0, total = 0;
    for (const finding of findings) {
      const { level, code, path, suppressed } = finding.dataset;
      const counted = suppressed === undefined || silenced;
      const text = `${path} ${finding.querySelector(".headline").textContent}`.toLowerCase();
      const wanted = counted && levels.has(level) && (!rule || rule === code) &&
        words.every((word) => text.includes(word));
      finding.hidden = !wanted;
      total += counted;
      count += wanted;
    }
    for (const file of files) {
      file.hidden = !file.querySelector(".finding:not([hidden])");
    }
    shown.textContent = `${count} of ${total} shown`;
  };

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  form.hidden = false;
  apply();
})();
