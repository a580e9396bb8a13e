"use strict";
(() => {
  const SIZE = 50;
  const UNITS = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  const MARKS = { ascending: " ▲", descending: " ▼" };

  // As visible of the planner: what no page shows is escaped.
  const visible = (text) =>
    text.replaceAll(/HIDDEN/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

  const announce = (text) => {
    document.getElementById("announce").textContent = text;
  };

  // As bytes_text of the planner: three digits, decimal units.
  const bytesText = (value) => {
    let size = value, unit = 0;
    while (Math.abs(size) >= 999.5 && unit < UNITS.length - 1) {
      size /= 1000;
      unit += 1;
    }
    return `${Number(size.toPrecision(3))} ${UNITS[unit]}`;
  };

  const copyText = async (text, what) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without the permission, or where files may not use the clipboard.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    announce(`${what} copied`);
  };

  const csvCell = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };

  const csvText = (heads, rows) =>
    [heads, ...rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";

  const compare = (a, b) => {
    if (a === b) return 0;
    if (a === null) return -1;
    if (b === null) return 1;
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a) < String(b) ? -1 : 1;
  };

  const browse = (part) => {
    const data = JSON.parse(part.querySelector("script.rows").textContent);
    const body = part.querySelector("tbody");
    const state = { page: 0, column: -1, direction: "ascending", rows: data.rows };
    const heads = [...part.querySelectorAll("thead th")];
    const filters = [...part.querySelectorAll("select")];
    const search = part.querySelector(".search");
    const texts = data.rows.map((row) => row.join("\u0000").toLowerCase());

    const cellOf = (value, column) => {
      const cell = document.createElement("td");
      const isSize = typeof value === "number" && data.sizes.includes(column);
      cell.textContent = value === null ? "" : isSize ? bytesText(value) : visible(String(value));
      if (typeof value === "number") cell.className = "number";
      return cell;
    };

    const show = () => {
      const pages = Math.max(1, Math.ceil(state.rows.length / SIZE));
      state.page = Math.min(Math.max(state.page, 0), pages - 1);
      const begin = state.page * SIZE;
      body.replaceChildren(...state.rows.slice(begin, begin + SIZE).map((row) => {
        const line = document.createElement("tr");
        line.append(...row.map(cellOf));
        return line;
      }));
      part.querySelector(".count").textContent =
        `${state.rows.length} of ${data.rows.length} rows, page ${state.page + 1} of ${pages}`;
      part.querySelector(".back").disabled = state.page === 0;
      part.querySelector(".next").disabled = state.page === pages - 1;
    };

    const choose = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = filters.filter((filter) => filter.value !== "");
      const rows = data.rows.filter((row, number) =>
        words.every((word) => texts[number].includes(word)) &&
        wanted.every((each) => String(row[Number(each.dataset.column)]) === each.value));
      if (state.column >= 0) {
        const sign = state.direction === "ascending" ? 1 : -1;
        rows.sort((a, b) => sign * compare(a[state.column], b[state.column]));
      }
      state.rows = rows;
      state.page = 0;
      show();
    };

    const sortBy = (column) => {
      const isSame = state.column === column && state.direction === "ascending";
      state.column = column;
      state.direction = isSame ? "descending" : "ascending";
      heads.forEach((head, number) => {
        const isOn = number === column;
        if (isOn) head.setAttribute("aria-sort", state.direction);
        else head.removeAttribute("aria-sort");
        head.firstChild.textContent =
          data.heads[number] + (isOn ? MARKS[state.direction] : "");
      });
      choose();
    };

    heads.forEach((head, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = data.heads[number];
      button.addEventListener("click", () => sortBy(number));
      head.replaceChildren(button);
    });
    for (const filter of filters) {
      const column = Number(filter.dataset.column);
      const values = [...new Set(data.rows.map((row) => row[column]))].sort(compare);
      for (const value of values) filter.append(new Option(visible(String(value)), String(value)));
      filter.addEventListener("change", choose);
    }
    search.addEventListener("input", choose);
    part.querySelector(".back").addEventListener("click", () => { state.page -= 1; show(); });
    part.querySelector(".next").addEventListener("click", () => { state.page += 1; show(); });
    part.querySelector(".copy-rows").addEventListener("click", () =>
      copyText(csvText(data.heads, state.rows), `${state.rows.length} rows`));
    part.querySelector(".download").addEventListener("click", () => {
      const blob = new Blob([csvText(data.heads, state.rows)], { type: "text/csv" });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = data.file;
      link.click();
      URL.revokeObjectURL(link.href);
      announce(`${data.file} downloaded`);
    });
    for (const hidden of part.querySelectorAll("[hidden]")) hidden.hidden = false;
    part.querySelector(".still").hidden = true;
    show();
  };

  const tellAge = () => {
    const taken = document.getElementById("taken");
    const hours = taken && (Date.now() - Date.parse(taken.dateTime)) / 3600000;
    if (!taken || !(hours >= 0)) return;
    const text = hours < 48 ? `${Math.round(hours)} hours` : `${Math.round(hours / 24)} days`;
    document.getElementById("age").textContent = `, ${text} before this page was opened`;
  };

  document.querySelectorAll(".browsed").forEach(browse);
  document.querySelectorAll(".command").forEach((part) => {
    const button = part.querySelector(".copy");
    button.hidden = false;
    button.addEventListener("click", () =>
      copyText(part.querySelector("code").dataset.text, "Command"));
  });
  tellAge();
})();
