"use strict";
(() => {
  const table = document.getElementById("kernels");
  const bodies = () => [...table.tBodies];
  const filter = document.getElementById("filter");
  const shown = document.getElementById("shown");

  function applyFilter() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const body of bodies()) {
      const text = body.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      body.hidden = !fits;
      document.getElementById(body.dataset.kernel).hidden = !fits;
      count += fits;
    }
    const all = table.tBodies.length;
    shown.value = words.length ? `${count} of ${all} kernels` : "";
  }

  /* The value of a kernel in a column: of its archs the one that comes first in this order. */
  function valueOf(body, column, isNumber, sign) {
    const cells = [...body.rows].map((row) => {
      const lacking = row.cells.length < table.tHead.rows[0].cells.length ? 1 : 0;
      return column < lacking ? body.rows[0].cells[0] : row.cells[column - lacking];
    });
    const values = cells.map((cell) => (isNumber ? Number(cell.dataset.value) : cell.dataset.value));
    return values.reduce((first, value) => (compare(value, first) * sign < 0 ? value : first));
  }

  function compare(a, b) {
    return typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  }

  function sortBy(head, column) {
    const isNumber = head.classList.contains("number");
    const before = head.getAttribute("aria-sort");
    const first = isNumber ? "descending" : "ascending";
    const other = isNumber ? "ascending" : "descending";
    const order = before === first ? other : first;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const keyed = bodies().map((body) => [valueOf(body, column, isNumber, sign), body]);
    keyed.sort(([a], [b]) => compare(a, b) * sign);
    table.append(...keyed.map(([, body]) => body));
  }

  filter.addEventListener("input", applyFilter);
  applyFilter();
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => sortBy(head, column));
  });
})();
