// Buttons that copy a secret to the clipboard.

for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent.trim());
    button.textContent = "Copied";
  });
}
