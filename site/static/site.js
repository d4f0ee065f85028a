// Theme, menus, copying, the section the reader is in, and the "/" key.
const html = document.documentElement;

const themeButton = document.querySelector(".theme");
if (themeButton) {
  themeButton.hidden = false;
  themeButton.addEventListener("click", () => {
    const dark = html.dataset.theme
      ? html.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    html.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", html.dataset.theme); } catch { /* private mode: this page only */ }
  });
}

const menus = document.querySelectorAll("details.menu");
document.addEventListener("click", (event) => {
  for (const menu of menus) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    for (const menu of menus) {
      if (menu.open) { menu.open = false; menu.querySelector("summary").focus(); }
    }
  }
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector(".search-home input, .search-page input, .search-head input");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

for (const text of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
  button.setAttribute("aria-label", `Copy ${text.textContent.trim()}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  text.after(button);
}

const contents = new Map([...document.querySelectorAll(".toc a")].map((link) => [link.hash.slice(1), link]));
if (contents.size && "IntersectionObserver" in window) {
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of contents.values()) link.classList.remove("at");
      contents.get(entry.target.id)?.classList.add("at");
    }
  }, { rootMargin: "-80px 0px -70% 0px" });
  for (const id of contents.keys()) {
    const section = document.getElementById(id);
    if (section) watcher.observe(section);
  }
}
