// `strata stack watch` against a real service.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { liveService } from '../../test/live-service.ts';
import { assertEnds } from '../../test/run-strata.ts';

it('strata stack watch creates, lists, tests and deletes a watchlist', async () => {
  const { base, key } = await liveService();
  const env = { STRATA_URL: base, STRATA_KEY: key };
  const watch = (args: readonly string[], code = 0, words = /^$/) =>
    assertEnds(['stack', 'watch', ...args], code, words, { env });
  const hook = ['--webhook', 'https://hooks.example.com/x', '--digest', 'daily'];
  const create = ['create', 'Own', 'a.com', 'b.com', '--rule', 'posture_fell:points=5', ...hook];
  const { stdout } = await watch(create, 0, /watch test wl_/);
  const list = JSON.parse(stdout);
  assert.partialDeepStrictEqual(list, { domain_count: 2, rules: [{ kind: 'posture_fell', points: 5 }] });
  assert.match(list.channels[0].secret, /^whsec_/);
  assert.match((await watch(['list'])).stdout, new RegExp(`${list.id} +Own +2 +posture_fell +webhook`));
  const [, message = ''] = /^(msg_\S+) is queued for webhook https/.exec((await watch(['test', list.id])).stdout) ?? [];
  assert.match((await watch(['deliveries', list.id])).stdout, new RegExp(`${message} +\\w+ +test +webhook https`));
  await watch(['replay', list.id, message]);
  await watch(['delete', list.id]);
  await watch(['delete', list.id], 1, /no watchlist with this id/);
  await watch(['create', 'Own', 'a.com', '--rule', 'posture_fell', '--email', 'a@b.com'], 2, /STRATA_SMTP_URL/);
  await watch(['create', 'Own', 'a.com', '--rule', 'gained:x'], 2, /needs a value/);
  await watch(['create', 'Own', 'a.com', '--rule', 'gained_provder'], 2, /rules.0.kind.+did you mean gained_provider/);
});
