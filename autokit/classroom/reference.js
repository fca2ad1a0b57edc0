// Shows the articles that hold every word of the search; without it the page is whole.
const search = document.getElementById("search");
const found = document.getElementById("found");
const articles = [...document.querySelectorAll("article")].map((element) => [element, element.textContent.toLowerCase()]);
search.hidden = false;
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const [element, text] of articles) {
    element.hidden = !words.every((word) => text.includes(word));
    count += !element.hidden;
  }
  for (const section of document.querySelectorAll("section")) {
    section.hidden = words.length > 0 && !section.querySelector("article:not([hidden])");
  }
  found.textContent = words.length ? `${count} found` : "";
});
