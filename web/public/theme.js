// Before the first paint, so that nobody who has dark sees a flash of light: the reader's choice, or else the system's.
try {
  document.documentElement.dataset.theme = localStorage.getItem('strata-theme');
} catch {
  // Without storage the system's choice holds.
}
if (!/^(?:light|dark)$/.test(document.documentElement.dataset.theme))
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
