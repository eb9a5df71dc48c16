"use strict";
// Filters and sorts what is on the page already. The page is complete without it.
(() => {
  const find = (selector, root = document) => [...root.querySelectorAll(selector)];
  const controls = { q: "search", owner: "owner", software: "software-name" };
  const inputs = {};
  for (const [name, id] of Object.entries(controls)) inputs[name] = document.getElementById(id);
  const units = find("[data-o]").map((element) => ({
    element,
    owner: element.dataset.o,
    software: element.dataset.s,
    count: Number(element.dataset.n || 1),
    text: null,
    ids: null,
  }));
  // The panel that a row leads to. page.css shows the one that the address names, with or without this script.
  const panelOf = (link) => (link ? document.getElementById(link.hash.slice(1))?.closest(".app") : null);
  const textOf = (unit) => {
    if (unit.text === null) {
      const parts = [unit.element, panelOf(unit.element.querySelector("a.self"))].filter(Boolean);
      const hidden = parts.flatMap((part) => find("[title]", part).map((e) => e.title)).join(" ");
      unit.text = `${parts.map((part) => part.textContent).join(" ")} ${hidden} ${unit.element.dataset.t || ""}`.toLowerCase();
    }
    return unit.text;
  };
  // The client ids of a grouped row, whole; what parts them cannot be in an id, where a line feed is shown as a sign.
  const idsOf = (unit) => {
    if (unit.ids === null) {
      const list = unit.element.querySelector(".ids").cloneNode(true);
      for (const cut of find("[title]", list)) cut.textContent = cut.title;
      unit.ids = list.textContent.toLowerCase().split(",\n");
    }
    return unit.ids;
  };
  const matching = (unit, words) => {
    if (!words.every((word) => textOf(unit).includes(word))) return 0;
    if (unit.count === 1 || words.length === 0) return unit.count;
    const ids = idsOf(unit);
    const ofAll = unit.element.querySelector("tr").cloneNode(true);
    ofAll.querySelector(".ids").remove();
    const shared = ofAll.textContent.toLowerCase();
    const own = words.filter((word) => !shared.includes(word));
    return ids.filter((id) => own.every((word) => id.includes(word))).length;
  };

  // A filter is kept behind the number sign, which a page opened from a folder or shown in a frame may change too. The
  // page around a frame is told, so that its own address can carry it.
  const tellFrame = () => {
    if (parent !== window) parent.postMessage({ clientTelemetryHash: location.hash }, "*");
  };
  const filterInAddress = () => {
    const chosen = new URLSearchParams();
    for (const [name, input] of Object.entries(inputs)) if (input.value) chosen.set(name, input.value);
    return [...chosen].length > 0 ? `#?${chosen}` : "#?";
  };
  const keepInAddress = () => {
    const hash = filterInAddress();
    try {
      history.replaceState(null, "", hash);
    } catch {
      location.hash = hash;
    }
    tellFrame();
  };

  // Applications without a row of their own, on the page of a large fleet: unpacked when somebody first searches, or
  // follows the address of one of them.
  const packed = document.getElementById("others");
  const SHOWN = 100;
  let others = null;
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(JSON.parse(packed.textContent)), (character) => character.charCodeAt(0));
    const { words, rows, anchors } = await new Response(
      new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")),
    ).json();
    const anchorsOf = anchors.split(",");
    return rows.map(([name, ...places], number) => {
      const [principal, owner, folder, outcome, software, change] = places.map((place) => words[place]);
      const cells = [name, principal, owner, outcome, software, change];
      return { cells, folder, software, text: cells.join(" ").toLowerCase(), anchors: anchorsOf[number] };
    });
  };
  const showOthers = (found, words) => {
    const section = document.getElementById("found");
    section.hidden = false;
    section.querySelector(".count").textContent = words;
    section.querySelector("tbody").replaceChildren(
      ...found.map(({ cells }) => {
        const row = document.createElement("tr");
        for (const cell of cells) row.insertCell().textContent = cell;
        return row;
      }),
    );
  };
  const showOther = async (anchor) => {
    others = others || (await unpack());
    const width = Number(packed.dataset.digits);
    const digits = anchor.slice(anchor.lastIndexOf("-") + 1).slice(0, width);
    const found = others.filter(({ anchors }) => {
      let place = anchors.indexOf(digits);
      while (place % width > 0) place = anchors.indexOf(digits, place + 1);
      return place >= 0;
    });
    if (found.length === 0) return;
    showOthers(found, "");
    document.getElementById("found").scrollIntoView();
  };
  const findOthers = async (words, owner, software, active) => {
    const section = document.getElementById("found");
    section.hidden = !active;
    if (!active) return;
    others = others || (await unpack());
    const matching = others.filter(
      (each) =>
        (owner === "" || each.folder === owner) &&
        (software === "" || each.software === software) &&
        words.every((word) => each.text.includes(word)),
    );
    const more = matching.length > SHOWN ? `, the first ${SHOWN} are here` : "";
    showOthers(matching.slice(0, SHOWN), `${matching.length}${more}`);
  };

  const apply = () => {
    const words = inputs.q.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { owner, software } = { owner: inputs.owner.value, software: inputs.software.value };
    const active = words.length > 0 || owner !== "" || software !== "";
    const shown = new Map();
    let total = 0;
    for (const unit of units) {
      const chosen = (owner === "" || unit.owner === owner) && (software === "" || unit.software === software);
      const count = chosen ? matching(unit, words) : 0;
      unit.element.hidden = count === 0;
      if (count === 0) continue;
      const section = unit.element.closest("section");
      shown.set(section, (shown.get(section) || 0) + count);
      if (section.dataset.counted !== undefined) total += count;
    }
    for (const group of find("[data-group]")) {
      group.hidden = !group.querySelector("[data-o]:not([hidden])");
    }
    for (const section of find("section[data-counted]")) {
      section.querySelector(".shown").textContent = active ? `${shown.get(section) || 0} match` : "";
      const folded = section.querySelector("details.list");
      if (folded && active) folded.open = shown.has(section);
    }
    if (packed && packed.dataset.searched !== undefined) findOthers(words, owner, software, active);
    const matches = document.getElementById("matches");
    const unit = matches.dataset.unit || "client";
    matches.textContent = active ? `${total} matching ${unit}${total === 1 ? "" : "s"}` : "";
    document.getElementById("clear").hidden = !active;
  };

  const sort = (button) => {
    const heading = button.closest("th");
    const column = [...heading.parentNode.children].indexOf(heading);
    const descending = heading.getAttribute("aria-sort") === "ascending";
    const value = (unit) => {
      const cell = (unit.matches("tr") ? unit : unit.rows[0]).cells[column];
      return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent.trim().toLowerCase();
    };
    const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true }));
    for (const table of find("table", heading.closest("section")).filter((t) => t.className === heading.closest("table").className)) {
      const rows = find("[data-o]", table).map((element) => ({ element, key: value(element) }));
      rows.sort((a, b) => (descending ? compare(b.key, a.key) : compare(a.key, b.key)));
      for (const { element } of rows) element.parentNode.append(element);
      find("th", table).forEach((th, index) => {
        if (index === column) th.setAttribute("aria-sort", descending ? "descending" : "ascending");
        else th.removeAttribute("aria-sort");
      });
    }
  };

  for (const heading of find("table.clients > thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(button));
    heading.append(button);
  }
  const takeFromAddress = () => {
    const asked = new URLSearchParams(location.hash.startsWith("#?") ? location.hash.slice(2) : location.search);
    for (const [name, input] of Object.entries(inputs)) {
      input.value = asked.get(name) || "";
      if (input.value === "" && input.selectedIndex === -1) input.selectedIndex = 0;
    }
  };
  takeFromAddress();
  for (const input of Object.values(inputs)) {
    input.addEventListener("input", () => {
      apply();
      keepInAddress();
    });
  }
  document.getElementById("clear").addEventListener("click", () => {
    for (const input of Object.values(inputs)) input.value = "";
    apply();
    keepInAddress();
    inputs.q.focus();
  });
  // A panel has the focus while it is open; closed, the row has it again, and the address the filter.
  let opener = null;
  let current = null;
  const opened = (panel) => {
    current?.removeAttribute("aria-current");
    const link = find(`a.self[href="#${panel.id}"]`).find((each) => each.checkVisibility());
    opener = link ?? opener;
    current = link ?? null;
    current?.setAttribute("aria-current", "true");
    panel.focus({ preventScroll: true });
  };
  const close = () => {
    location.hash = filterInAddress();
    current?.removeAttribute("aria-current");
    opener?.focus({ preventScroll: true });
  };
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && document.querySelector(".app:is(:target, :has(:target))")) close();
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      inputs.q.focus();
    }
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const row = event.target.closest(".brief");
    if (row && !event.target.closest("a, button") && getSelection().isCollapsed) row.querySelector("a.self").click();
    if (!link) return;
    if (link.closest(".close")) {
      event.preventDefault();
      close();
    } else if (panelOf(link) && !link.closest(".app")) opener = link;
  });
  const unfold = () => {
    if (location.hash.length < 2 || location.hash.startsWith("#?")) return;
    const id = decodeURIComponent(location.hash.slice(1));
    const target =
      document.getElementById(id) || find("[data-clients]").find((e) => e.dataset.clients.split(" ").includes(id));
    if (!target) {
      if (packed && /^(client|application)-[0-9a-f]{12}$/.test(id)) showOther(id);
      return;
    }
    const panel = target.closest(".app");
    if (panel) {
      if (!panel.matches(":target, :has(:target)")) location.replace(`#${panel.id}`);
      opened(panel);
      return;
    }
    const inside = target.querySelector("details.list");
    if (inside) inside.open = true;
    for (let around = target.closest("details"); around; around = around.parentElement.closest("details")) {
      around.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#?")) {
      takeFromAddress();
      apply();
    }
    unfold();
    tellFrame();
  });
  // The text is selected, so that it can be copied by hand where a frame or a browser forbids it.
  document.getElementById("copy")?.parentElement.addEventListener("toggle", async ({ target }) => {
    if (!target.open) return;
    const text = document.getElementById("summary");
    getSelection().selectAllChildren(text);
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      document.execCommand("copy");
    }
  });
  document.getElementById("filter").hidden = false;
  unfold();
  apply();
})();
