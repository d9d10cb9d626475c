// Sets the theme before the first paint, to avoid a flash of the wrong one: the user's choice or the system's.
try {
  document.documentElement.dataset.theme = localStorage.getItem('strata-theme');
} catch {
  // Storage is disabled: use the system theme.
}
if (!/^(?:light|dark)$/.test(document.documentElement.dataset.theme))
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
