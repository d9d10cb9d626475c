// What is asked for a DMARC policy: the parents' policies, and the consent of those who get reports.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { askDmarcParents, askReportConsents } from './dmarc-questions.ts';
import { table } from './test/asking.ts';

for (const [domain, parents] of [
  ['example.com', ['com']],
  ['example.co.uk', ['co.uk', 'uk']],
  [
    'a.b.c.d.e.f.g.h.i.test',
    ['d.e.f.g.h.i.test', 'e.f.g.h.i.test', 'f.g.h.i.test', 'g.h.i.test', 'h.i.test', 'i.test', 'test'],
  ],
] as const) {
  it(`above ${domain} the policies of ${parents.length} parents are asked for`, async () => {
    const { ask, asked } = table();
    assert.deepEqual(Object.keys(await askDmarcParents(domain, ask)), parents);
    assert.equal(asked.join(), parents.map((parent) => `_dmarc.${parent}`).join());
  });
}

it('the hosts of other owners are asked whether they want reports', async () => {
  const { ask, asked } = table();
  const record =
    'v=DMARC1; p=none; rua=mailto:a@example.com,mailto:b@mail.example.com,mailto:c@reports.test!10m; ruf=mailto:d@Reports.TEST,https://web.test/';
  assert.deepEqual(Object.keys(await askReportConsents('example.com', [record], ask)), ['reports.test']);
  assert.deepEqual(asked, ['example.com._report._dmarc.reports.test']);
});

it('of more than eight, eight are', async () => {
  const { ask, asked } = table();
  const rua = Array.from({ length: 30 }, (_, i) => `mailto:a@r${i}.test`).join(',');
  await askReportConsents('example.com', [`v=DMARC1; p=none; rua=${rua}`], ask);
  assert.equal(asked.length, 8);
});

it('nobody is where there is no policy, or two', async () => {
  const { ask, asked } = table();
  const record = 'v=DMARC1; p=none; rua=mailto:a@r.test';
  await askReportConsents('example.com', [], ask);
  await askReportConsents('example.com', [record, record], ask);
  assert.deepEqual(asked, []);
});
