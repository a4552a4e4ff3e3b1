// What the pages gain with JavaScript. Everything works without it.
"use strict";

// Menus of the filters: one open at a time, closed by Escape or a click elsewhere.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// Upload: a file can be dropped, and the button says that the model is being read.
const drop = document.querySelector(".drop");
if (drop) {
  const input = drop.querySelector("input[type=file]");
  const told = drop.querySelector("[data-chosen]");
  const tell = () => {
    const file = input.files[0];
    told.hidden = !file;
    if (file) told.textContent = `${file.name} · ${(file.size / 1e6).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 })} MB`;
  };
  input.addEventListener("change", tell);
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    tell();
  });
  drop.closest("form").addEventListener("submit", () => {
    const button = document.querySelector("button[data-busy]");
    button.textContent = button.dataset.busy;
    button.setAttribute("aria-busy", "true");
  });
}
