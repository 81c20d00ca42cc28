// Everything works without this script; it asks before what cannot be undone, copies keys, and previews what is typed.
"use strict";

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}

// What is typed is shown as the button named Preview would show it, a moment after the last key.
for (const form of document.querySelectorAll("form[data-preview]")) {
  const shown = document.getElementById(form.dataset.preview);
  let timer, running;
  const preview = async () => {
    running?.abort();
    running = new AbortController();
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.dataset.previewAction, { method: "POST", body, signal: running.signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById(shown.id);
    if (fresh) shown.replaceChildren(...fresh.childNodes);
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    // A preview that another overtakes, or that the network loses, is not missed.
    timer = setTimeout(() => preview().catch(() => {}), 250);
  });
}
