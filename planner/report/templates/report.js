"use strict";
(() => {
  const SIZE = 50;
  const PRINTED = 500;

  // As visible of the planner: what no page shows is escaped.
  const visible = (text) =>
    text.replaceAll(/HIDDEN/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

  const shown = (value) => value === null ? "" : visible(String(value));

  const announce = (text) => {
    document.getElementById("announce").textContent = text;
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
    if (a === null || b === null) return a === null ? -1 : 1;
    const isLess = typeof a === typeof b ? a < b : String(a) < String(b);
    return isLess ? -1 : 1;
  };

  const browse = (part) => {
    const data = JSON.parse(part.querySelector("script.rows").textContent);
    const search = part.querySelector(".search");
    const filters = [...part.querySelectorAll("select")];

    const cellOf = (cell) => {
      const value = cell.getValue();
      const size = data.sizes[cell.getField()]?.[cell.getData().number];
      cell.getElement().classList.toggle("number", typeof value === "number");
      return document.createTextNode(size ?? shown(value));
    };

    const sortButton = (head) => Object.assign(
      document.createElement("button"), { type: "button", textContent: head.getValue() });

    for (const hidden of part.querySelectorAll("[hidden]")) hidden.hidden = false;
    const table = new Tabulator(part.querySelector(".table"), {
      data: data.rows.map((row, number) => ({ ...row, number, text: row.join("\u0000") })),
      columns: data.heads.map((title, column) => ({ title, field: String(column) })),
      columnDefaults: {
        sorter: compare, formatter: cellOf, titleFormatter: sortButton, resizable: false,
      },
      // The style sheet lays out the table, on screens and on paper.
      renderVertical: "basic", autoResize: false, headerSortElement: "",
      sortOrderReverse: true,
      pagination: true, paginationSize: SIZE, paginationButtonCount: 0,
      paginationElement: part.querySelector(".pages"),
    });

    // Other rows, or another order, are shown from the first row.
    const toFirstPage = () => table.setPage(1);

    const choose = () => {
      table.setFilter([
        { field: "text", type: "keywords", value: search.value.trim(),
          params: { matchAll: true, separator: /\s+/ } },
        ...filters.filter((each) => each.value).map((each) =>
          ({ field: each.dataset.column, type: "=", value: JSON.parse(each.value) })),
      ]);
      toFirstPage();
    };

    const csv = () => csvText(data.heads,
      table.getData("active").map((row) => data.heads.map((_, column) => row[column])));

    for (const filter of filters) filter.addEventListener("change", choose);
    search.addEventListener("input", choose);
    part.querySelector(".copy-rows").addEventListener("click", () =>
      copyText(csv(), `${table.getDataCount("active")} rows`));
    part.querySelector(".download").addEventListener("click", () =>
      table.download((list, options, save) => save(csv(), "text/csv"), data.file));
    table.on("downloadComplete", () => announce(`${data.file} downloaded`));

    const count = () => {
      part.querySelector(".count").textContent =
        `${table.getDataCount("active")} of ${data.rows.length} rows, ` +
        `page ${table.getPage()} of ${table.getPageMax()}`;
    };
    table.on("tableBuilt", () => {
      part.querySelector(".still").remove();
      // The element around it scrolls.
      part.querySelector(".tabulator-tableholder").removeAttribute("tabindex");
      part.querySelector(".tabulator-header").addEventListener("click", toFirstPage);
      count();
      table.on("renderComplete", count);
      printRows(part, table);
    });
  };

  // Paper has no pages to turn: all chosen rows are printed, up to a number.
  const printRows = (part, table) => {
    const note = part.querySelector(".unprinted");
    let page = 1;
    addEventListener("beforeprint", () => {
      const total = table.getDataCount("active");
      page = table.getPage();
      if (total > PRINTED) note.textContent =
        `Printed are the first ${PRINTED} of ${total} rows; ` +
        `${total - PRINTED} are left out, and in the CSV that the page downloads.`;
      if (total > SIZE) table.setPageSize(PRINTED);
    });
    addEventListener("afterprint", () => {
      note.textContent = "";
      if (table.getPageSize() === SIZE) return;
      table.setPageSize(SIZE);
      table.setPage(page);
    });
  };

  const printFolded = () => {
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open])")];
      for (const part of opened) part.open = true;
    });
    addEventListener("afterprint", () => {
      for (const part of opened) part.open = false;
    });
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
  printFolded();
  tellAge();
})();
