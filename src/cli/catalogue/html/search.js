"use strict";
(() => {
  const form = document.getElementById("search");
  const query = document.getElementById("query");
  const found = document.getElementById("found");
  const overview = document.getElementById("families");
  const ops = [...document.querySelectorAll("[data-op]")].map((item) => [item, `${item.textContent} ${item.dataset.op}`.toLowerCase()]);
  const lists = [...document.querySelectorAll("[data-list]")];
  const filter = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter((word) => word);
    let count = 0;
    for (const [item, text] of ops) {
      item.hidden = !words.every((word) => text.includes(word));
      count += item.hidden ? 0 : 1;
    }
    for (const list of lists) list.hidden = !list.querySelector("[data-op]:not([hidden])");
    overview.hidden = words.length > 0;
    found.textContent = words.length ? (count ? `${count} of ${ops.length} ops` : "no op has these words") : "";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = document.querySelector("[data-op]:not([hidden]) a");
    if (first) first.focus();
  });
  query.addEventListener("input", filter);
  form.hidden = false;
  filter();
})();
