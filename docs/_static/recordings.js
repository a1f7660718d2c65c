/* A button below each recording of the terminal stops and starts it. Without this script, recordings play. */
document.addEventListener("DOMContentLoaded", () => {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  for (const image of document.querySelectorAll("img.recording")) {
    const file = image.getAttribute("src");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "recording";
    const show = (playing) => {
      image.setAttribute("src", `${file}#${playing ? "play" : "still"}`);
      button.textContent = playing ? "Stop" : "Play";
      button.onclick = () => show(!playing);
    };
    show(!still); // not left to the picture: Chromium does not tell pictures what the reader prefers
    image.after(button);
  }
});
