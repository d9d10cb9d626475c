// The front page: what this is, a key at the press of a button, the first request.

/** `exampleDomain` is one that this service can answer for. */
export function frontPage(exampleDomain: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Strata: Stack Intelligence</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #ffffff; --tint: #f3f5f7; --accent: #0b6bcb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf2; --soft: #9aa5b1; --line: #343c45; --paper: #14181d; --tint: #1d232a; --accent: #6cb4ff; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.55 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
p.lead { color: var(--soft); margin-top: 0; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: 8px; padding: .85rem 1rem; overflow-x: auto; font-size: .88rem; }
button { font: inherit; padding: .55rem 1rem; border-radius: 8px; border: 0; background: var(--accent); color: var(--paper); cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
footer { margin-top: 3rem; color: var(--soft); font-size: .9rem; }
</style>
</head>
<body>
<main>
<h1>Strata: Stack Intelligence</h1>
<p class="lead">Which technology providers does a company's domain use, since when, and how do we know? With evidence, confidence and history; every answer is signed, and its receipt stands in a public log.</p>

<h2>1. Get a key</h2>
<p>Free, without an account: 50 requests a day.</p>
<p><button id="get" type="button">Get a free key</button></p>
<pre id="key" role="status" aria-live="polite">Your key will appear here, once.</pre>

<h2>2. Ask</h2>
<pre id="ask">curl -H "X-Stack-Key: YOUR_KEY" ORIGIN/stack/v1/domains/${exampleDomain}</pre>

<h2>3. Verify</h2>
<pre id="verify">npx strata stack verify ORIGIN/stack/v1/domains/${exampleDomain} --key YOUR_KEY</pre>

<h2>More</h2>
<p><a href="/reference">API reference</a> · <a href="/openapi.json">OpenAPI 3.1</a> · <a href="/.well-known/stack-keys.json">public keys</a> · <a href="/ledger/checkpoint">ledger checkpoint</a></p>
<footer>Alpha data, without any guarantee.</footer>
</main>
<script>
const show = (key) => {
  for (const id of ['ask', 'verify']) {
    const element = document.getElementById(id);
    element.textContent = element.textContent.replace('ORIGIN', location.origin).replace('YOUR_KEY', key);
  }
};
show('YOUR_KEY');
document.getElementById('get').addEventListener('click', async (event) => {
  const button = event.target;
  const place = document.getElementById('key');
  button.disabled = true;
  try {
    const response = await fetch('/keys', { method: 'POST' });
    const body = await response.json();
    place.textContent = response.ok ? body.key : body.detail;
    if (response.ok) show(body.key);
    else button.disabled = false;
  } catch {
    place.textContent = 'The service could not be reached.';
    button.disabled = false;
  }
});
</script>
</body>
</html>
`;
}
