"use strict";
// A step back or forward before the scripts were there has changed the address alone.
const [loaded] = performance.getEntriesByType("navigation");
if (loaded && loaded.name !== location.href) location.reload();
// The value of a slider while it is turned; every other answer comes from the server.
document.addEventListener("input", (event) => {
  const shown = document.querySelector(`output[for="${CSS.escape(event.target.id)}"]`);
  if (shown && event.target.type === "range") shown.textContent = event.target.value;
});
// A newer action replaces the request of an older one, and takes it along: no click is
// lost while an answer is on its way.
const unanswered = [];
const sent = new Map();
document.addEventListener("htmx:configRequest", (event) => {
  const { path, formData, elt } = event.detail;
  for (const field of elt.elements ?? [elt]) sent.set(field.id, field.value);
  if (path !== "change") return;
  const own = Object.fromEntries(formData);
  delete own.steps;
  delete own.show;
  if (unanswered.length) formData.set("before", JSON.stringify(unanswered));
  unanswered.push(own);
});
// What was typed and not yet sent stays when an answer replaces its field.
const TYPED = "input:not([type=hidden], [type=range])";
const kept = new WeakSet();
let typed = new Map();
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, requestConfig, shouldSwap } = event.detail;
  const own = [...target.querySelectorAll(TYPED)].filter(
    (field) => field.value !== field.defaultValue && sent.get(field.id) !== field.value
  );
  typed = new Map(own.map((field) => [field.id, field.value]));
  if (requestConfig.path !== "change" || !shouldSwap) return;
  unanswered.length = 0;
  sent.clear();
});
document.addEventListener("htmx:afterSwap", () => {
  for (const [id, value] of typed) {
    const field = document.getElementById(id);
    if (!field || field.value === value) continue;
    field.value = value;
    kept.add(field);
  }
  typed.clear();
});
// A browser tells no change of a value that was put there by a script.
document.addEventListener("change", (event) => kept.delete(event.target));
document.addEventListener("focusout", (event) => {
  const { target } = event;
  if (kept.delete(target) && target.hasAttribute("hx-get"))
    target.dispatchEvent(new Event("change", { bubbles: true }));
});
// An element that was replaced before its response is there finds no other one. What was
// asked of an older answer must not replace the newer one; a refusal is shown all the same.
const orphaned = (event) => {
  const { elt, requestConfig, xhr } = event.detail;
  if (elt.isConnected) return;
  if (["answer", "stop"].includes(requestConfig.path)) event.preventDefault();
  else if (xhr.getResponseHeader("HX-Retarget")) {
    event.preventDefault();
    unanswered.length = 0;
    htmx.swap("#messages", xhr.response, { swapStyle: "innerHTML" });
  }
};
document.addEventListener("htmx:beforeRequest", ({ detail }) =>
  detail.elt.addEventListener("htmx:beforeOnLoad", orphaned)
);
// A page that was left open may outlive its server.
const say = (text) => {
  document.getElementById("messages").textContent = text;
};
document.addEventListener("htmx:sendError", () =>
  say("No answer: the page's server has ended. Start kafka-planner ui again.")
);
document.addEventListener("htmx:responseError", (event) =>
  say(`No answer: ${event.detail.xhr.responseText.slice(0, 300)}`)
);
