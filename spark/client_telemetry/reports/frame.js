"use strict";
// Links and printing, on every page. The page is complete without it.
(() => {
  // In the sandbox of the pages inside Airflow this page has an origin of its own, and what it asks for carries no login:
  // the page around it follows links to other published files.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || parent === window || origin !== "null" || link.target || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    parent.postMessage({ clientTelemetryLink: link.href }, "*");
  });
  const printing = document.getElementById("print");
  if (printing) {
    printing.hidden = false;
    printing.addEventListener("click", () => print());
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const folded of opened) folded.open = true;
  });
  addEventListener("afterprint", () => {
    for (const folded of opened) folded.open = false;
  });
})();
