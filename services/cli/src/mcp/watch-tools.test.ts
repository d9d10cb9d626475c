// The tools for watchlists, on a real service.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { liveService } from '../test/live-service.ts';
import { startMcp } from '../test/mcp-client.ts';

it('creates, changes and reads watchlists, without their secrets', async () => {
  const service = await liveService();
  await using mcp = await startMcp({ STRATA_URL: service.base, STRATA_KEY: service.key });
  const channels = [{ kind: 'webhook', url: 'https://hooks.example.com/x' }];
  const given = { name: 'Own', domains: ['a.com', 'b.com'], rules: [{ kind: 'lost_provider' }], channels };
  const created = await mcp.call('stack_watch', given);
  assert.match(created.text, /^wl_\w+ "Own": 2 domains, lost_provider\n/);
  const { id } = created.body.answer;
  const changed = await mcp.call('stack_watch', { id, query: 'domain:never-scanned.com' });
  const kept = { name: 'Own', domain_count: 0, rules: given.rules, channels };
  assert.partialDeepStrictEqual(changed.body.answer, kept, changed.text);
  const { text, body } = await mcp.call('stack_watchlists');
  assert.partialDeepStrictEqual(body.answer.watchlists, [{ id, domain_count: 0 }]);
  for (const each of [created, changed, { text, body }])
    assert.doesNotMatch(JSON.stringify([each.text, each.body]), /whsec_|token=/);
  const direct = await (
    await fetch(`${service.base}/stack/v1/watchlists/${id}`, { headers: { 'x-stack-key': service.key } })
  ).json();
  assert.equal(direct.watchlist.channels[0].id, created.body.answer.channels[0].id);
  const reported = await mcp.call('stack_watchlists', { id });
  assert.deepEqual([reported.body.answer.notifications, /^Nothing yet\./.test(reported.text)], [[], true]);
  for (const [refused, says] of [
    [{ id: `wl_${'0'.repeat(24)}`, name: 'x' }, /no watchlist/],
    [{ ...given, channels: [{ kind: 'webhook', url: 'http://127.0.0.1/' }] }, /loopback/],
    [{ ...given, rules: [{ kind: 'lost_provder' }] }, /did you mean lost_provider/],
    [{ id: 'wl_1' }, /id of a watchlist/],
  ] as const) {
    const failed = mcp.call('stack_watch', refused).catch((error: Error) => ({ isError: true, text: error.message }));
    assert.deepEqual([(await failed).isError, says.test((await failed).text)], [true, true], (await failed).text);
  }
});
