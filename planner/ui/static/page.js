"use strict";
// A step back or forward before the scripts were there has changed the address alone.
const [loaded] = performance.getEntriesByType("navigation");
if (loaded && loaded.name !== location.href) location.reload();
// The value of a slider while it is turned; every other answer comes from the server.
document.addEventListener("input", (event) => {
  const shown = document.querySelector(`output[for="${CSS.escape(event.target.id)}"]`);
  if (shown && event.target.type === "range") shown.textContent = event.target.value;
});
// The progress of a plan that was replaced meanwhile must not replace the newer answer.
document.addEventListener("htmx:beforeSwap", (event) => {
  const asked = event.detail.requestConfig.elt;
  if (asked.id === "progress" && !asked.isConnected) event.detail.shouldSwap = false;
});
// A page that was left open may outlive its server.
document.addEventListener("htmx:sendError", () => {
  document.getElementById("messages").textContent =
    "No answer: the page's server has ended. Start kafka-planner ui again.";
});
