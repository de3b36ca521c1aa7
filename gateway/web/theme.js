// The theme before the first pixel, so that a dark hall sees no white flash.
(() => {
  let theme = 'dark';
  try {
    theme = localStorage.getItem('hall.theme') === 'light' ? 'light' : 'dark';
  } catch {
    // Storage may be closed to us; dark is the default.
  }
  document.documentElement.dataset.theme = theme;
})();
