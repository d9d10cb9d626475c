// The files at well-known places: there for those who publish them, and a 404 or a page for the others.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ask } from './test/ask.ts';
import { dig } from './test/dig.ts';
import { inState, useInternet } from './test/use.ts';

const internet = useInternet({ domains: 400, hasFaults: false });

it('policies are served where a record says that there is one, with the exchanges of the domain', async () => {
  let policies = 0;
  for (const domain of inState(internet, 'active')) {
    if (!internet.truth(domain).security.hasMtaSts) continue;
    const [record] = (await dig(internet.resolver, `_mta-sts.${domain}`, 'TXT'))?.answers ?? [];
    const [address] = (await dig(internet.resolver, `mta-sts.${domain}`, 'A'))?.answers ?? [];
    assert.equal(address?.type, record === undefined ? undefined : 'A', domain);
    if (record === undefined || policies >= 3) continue;
    const url = `https://mta-sts.${domain}/`;
    // A company without HTTPS has none for its policy either.
    const answer = await ask(internet, `${url}.well-known/mta-sts.txt`).catch(() => undefined);
    if (answer === undefined) continue;
    const { headers, body } = answer;
    assert.equal(headers['content-type'], 'text/plain');
    const [first] = (await dig(internet.resolver, domain, 'MX'))?.answers ?? [];
    const exchange = first?.type === 'MX' ? first.data.exchange : '';
    assert.match(body.toString(), /^version: STSv1\r\nmode: (?:enforce|testing)\r\n/);
    assert.ok(body.toString().includes(`\r\nmx: ${exchange}\r\n`), domain);
    assert.equal((await ask(internet, url)).status, 404);
    policies += 1;
  }
  assert.equal(policies, 3);
});

it('security.txt is kept by some, denied by most, and answered with a page by others', async () => {
  const seen = new Map(['text/plain', '404', '301', 'text/html; charset=utf-8'].map((kind) => [kind, 0]));
  for (const domain of inState(internet, 'active')) {
    if ([...seen.values()].every((count) => count >= 3)) break;
    const found = await ask(internet, `https://${domain}/.well-known/security.txt`).catch(() => undefined);
    if (found === undefined) continue;
    const kind = found.status === 200 ? (found.headers['content-type'] ?? '') : String(found.status);
    if (kind === 'text/plain') assert.match(found.body.toString(), /^Contact: mailto:security@.+\nExpires: \d{4}-/);
    if (seen.has(kind)) seen.set(kind, (seen.get(kind) ?? 0) + 1);
  }
  assert.ok(Math.min(...seen.values()) >= 3, JSON.stringify([...seen]));
});
