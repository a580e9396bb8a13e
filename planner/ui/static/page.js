"use strict";
// The value of a slider while it is turned; every other answer comes from the server.
document.addEventListener("input", (event) => {
  const shown = document.querySelector(`output[for="${CSS.escape(event.target.id)}"]`);
  if (shown && event.target.type === "range") shown.textContent = event.target.value;
});
// A page that was left open may outlive its server.
document.addEventListener("htmx:sendError", () => {
  document.getElementById("messages").textContent =
    "No answer: the page's server has ended. Start kafka-planner ui again.";
});
