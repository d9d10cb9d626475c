// The front page: what this is, a key at the press of a button, the first requests. Complete in itself.

/** A stack of layers, for browser tabs. */
export const FAVICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b6bcb"/><path d="M16 5 27 10.5 16 16 5 10.5Z" fill="#fff"/><path d="M5 16l11 5.5L27 16M5 21.5 16 27l11-5.5" fill="none" stroke="#fff" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round"/></svg>';

/** Commands are complete, so that one copied alone works. The script puts the page's own origin and the key in place. */
const curl = (path: string, options = '') => `curl ${options}-H "X-Stack-Key: YOUR_KEY" "ORIGIN/stack/v1${path}"`;

const moreQuestions: readonly (readonly [title: string, command: string])[] = [
  ['Domains that use a provider', curl('/search?provider=cloudflare&limit=10')],
  ['All domains in figures', curl('/stats')],
  ['Who leads the market for mail', curl('/intelligence/market-share?category=email')],
  ['What has happened lately', curl('/alerts?limit=20')],
  ['Changes as they happen, until you press Ctrl-C', curl('/stream', '-N ')],
  ['A table for a spreadsheet, with its receipt', curl('/security/export.csv', '-D headers.txt -o security.csv ')],
];

/** `exampleDomain` is one that this service can answer for. */
export function frontPage(exampleDomain: string): string {
  const domainPath = `/domains/${exampleDomain}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Strata: Stack Intelligence</title>
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Strata: Stack Intelligence</h1>
<p class="lead">Which technology providers does a company's domain use, since when, and how do we know? With evidence, confidence and history; every answer is signed, and its receipt stands in a public log.</p>

<h2>1. Get a key</h2>
<p>Free, without an account: 50 requests a day. A key is shown once, here, and never again: keep it somewhere safe.</p>
<p><button id="get" type="button">Get a free key</button></p>
<p id="told" role="status"></p>
<div id="keys"></div>

<h2>2. Ask about a domain</h2>
${command(curl(domainPath))}

<h2>3. Verify</h2>
<p>In a checkout of Strata. It checks the signature, and that the receipt stands in the log:</p>
${command(`npx strata stack verify "ORIGIN/stack/v1${domainPath}" --key YOUR_KEY`)}

<h2>4. Ask more</h2>
${moreQuestions.map(([title, text]) => `<h3>${title}</h3>\n${command(text)}`).join('\n')}

<h2>Read on</h2>
<p><a href="/reference">API reference</a> · <a href="/openapi.json">OpenAPI 3.1</a> · <a href="/.well-known/stack-keys.json">public keys</a> · <a href="/ledger/checkpoint">ledger checkpoint</a></p>
<footer>Alpha data, without any guarantee.</footer>
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

function command(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<div class="command"><pre>${escaped}</pre><button class="copy" type="button" aria-label="Copy the command">Copy</button></div>`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #ffffff; --tint: #f3f5f7; --accent: #0b6bcb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --soft: #9aa5b1; --line: #343c45; --paper: #14181d; --tint: #1d232a; --accent: #6cb4ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.55 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
h3 { font-size: 1rem; font-weight: 500; margin: 1.1rem 0 .35rem; }
p { margin: .5rem 0; }
p.lead { color: var(--soft); margin-top: 0; }
.command { display: flex; align-items: flex-start; gap: .5rem; margin: .4rem 0; background: var(--tint); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .5rem .5rem 1rem; }
pre { flex: 1; min-width: 0; margin: .25rem 0; font: .88rem/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
button { font: inherit; padding: .55rem 1rem; border-radius: 8px; border: 0; background: var(--accent); color: var(--paper); cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
button.copy { flex: none; min-width: 4.6rem; padding: .25rem .6rem; font-size: .85rem; color: var(--ink); background: var(--paper); border: 1px solid var(--line); }
@media (max-width: 30rem) { .command { flex-direction: column; align-items: stretch; padding: .5rem .75rem; } button.copy { align-self: flex-end; } }
button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
footer { margin-top: 3rem; color: var(--soft); font-size: .9rem; }
`;

const SCRIPT = `
let shownKey = 'YOUR_KEY';
const commands = document.querySelectorAll('.command pre');
for (const each of commands) each.textContent = each.textContent.replaceAll('ORIGIN', location.origin);

const copied = (text) => {
  // A page that is not served over HTTPS or from this machine has no clipboard; selecting works everywhere.
  if (navigator.clipboard) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  return Promise.resolve(isDone);
};
document.addEventListener('click', async ({ target }) => {
  if (!target.matches('button.copy')) return;
  const isDone = await copied(target.previousElementSibling.textContent);
  target.textContent = isDone ? 'Copied' : 'Select it';
  setTimeout(() => { target.textContent = 'Copy'; }, 2000);
});

const get = document.getElementById('get');
const told = document.getElementById('told');
const addKey = (key) => {
  const row = document.querySelector('.command').cloneNode(true);
  row.querySelector('pre').textContent = key;
  row.querySelector('button').setAttribute('aria-label', 'Copy the key');
  row.querySelector('button').textContent = 'Copy';
  document.getElementById('keys').prepend(row);
  for (const each of commands) each.textContent = each.textContent.replaceAll(shownKey, key);
  shownKey = key;
};
get.addEventListener('click', async () => {
  get.disabled = true;
  told.textContent = 'One moment …';
  try {
    const response = await fetch('/keys', { method: 'POST' });
    const body = await response.json();
    if (response.ok) {
      addKey(body.key);
      told.textContent = 'Your key. It is shown only now, so copy it; the commands below have it already.';
      get.textContent = 'Get another key';
    } else told.textContent = body.detail ?? body.title;
  } catch {
    told.textContent = 'The service could not be reached. Try again.';
  }
  get.disabled = false;
});
`;
