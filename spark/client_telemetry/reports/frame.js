"use strict";
// Links and printing, on every page. The page is complete without it.
(() => {
  // In the sandbox of the pages inside Airflow this page has an origin of its own, and what it asks for carries no login:
  // the page around it follows links to other published files and mail, shows a client's page, and sees to printing.
  const framed = parent !== window && origin === "null";
  const tell = (message) => parent.postMessage(message, "*");
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || !framed || link.getAttribute("href").startsWith("#")) return;
    if (link.target && link.protocol !== "mailto:") return;
    event.preventDefault();
    tell({ clientTelemetryLink: link.href });
  });
  // A client leads to its page of the day in Airflow; in files, to the fleet page of that day, if the page links to it.
  const fleetPage = document.querySelector('.files a[href^="../../../fleet/"]');
  for (const named of document.querySelectorAll("[data-client]")) {
    const [id, principal] = JSON.parse(named.dataset.client);
    const { day } = named.closest("[data-day]")?.dataset ?? {};
    const link = document.createElement("a");
    if (framed) {
      [link.href, link.title] = ["#", `Its connections, requests and metrics ${day ? `on ${day}` : "over the day"}`];
      link.addEventListener("click", (event) => {
        event.preventDefault();
        tell({ clientTelemetryClient: { id, principal, day } });
      });
    } else {
      if (!id || !fleetPage?.pathname.endsWith(`/${day}/index.html`)) continue;
      [link.href, link.title] = [`${fleetPage.href}#?${new URLSearchParams({ q: id })}`, `On the fleet page of ${day}`];
    }
    named.replaceWith(link);
    link.append(named);
  }
  const printing = document.getElementById("print");
  if (printing) {
    printing.hidden = false;
    printing.addEventListener("click", () => (framed ? tell({ clientTelemetryPrint: true }) : print()));
  }
  addEventListener("message", (event) => {
    if (framed && event.source === parent && event.data?.clientTelemetryPrint) print();
  });
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const folded of opened) folded.open = true;
  });
  addEventListener("afterprint", () => {
    for (const folded of opened) folded.open = false;
  });
})();
