// A log with witnesses while other nodes append to the same log, and while a witness answers late or wrongly.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../../tests/support/until.ts';
import type { Log } from '../log.ts';
import { appendAll, upTo } from '../test/conformance.ts';
import { headOf, idOf, leafOf } from '../test/fixture.ts';
import { inDirectory, openIn, sizeOf } from '../test/log-on-disk.ts';
import { startWitnesses } from '../test/public-log.ts';
import type { WitnessFetch } from './witness-client.ts';

/** The log as another node sees it, which has read what was appended up to the last `follow()`. */
function viewOf(log: Log) {
  let note = log.checkpoint();
  return {
    follow: (newer = log.checkpoint()) => {
      note = newer;
    },
    get size() {
      return sizeOf(note);
    },
    checkpoint: () => note,
    append: (leaf: Uint8Array) => log.append(leaf),
    read: (path: string) => log.read(path),
    receipt: (id: string, head?: Parameters<Log['receipt']>[1]) => log.receipt(id, head),
    stats: () => ({ size: sizeOf(note), commits: 0 }),
  };
}

inDirectory(
  'a node that is behind another one accepts leaves, or does so again once it has caught up',
  async (directory) => {
    await using witnesses = await startWitnesses(1);
    await using base = await openIn(directory);
    await appendAll(base, upTo(3));
    const view = viewOf(base);
    let isLying = false;
    const fetch: WitnessFetch = (url, request) =>
      isLying && request.method === 'POST'
        ? Promise.resolve({ kind: 'answered', status: 422, headers: {}, body: new Uint8Array() })
        : witnesses.fetch(url, request);
    await using node = await witnesses.watch(view, 1, { fetch, timing: { followMs: 1_000 } });
    await using other = await witnesses.watch(base);
    /** Another node appends and has it cosigned; this one has read all of it but the last leaf. */
    const fallBehind = async () => {
      await appendAll(base, [base.size]);
      const note = base.checkpoint();
      await appendAll(base, [base.size]);
      await until(async () => (await headOf(other.checkpoint())).size === base.size && other.report().cosigning === 1);
      view.follow(note);
    };
    for (isLying of [false, true]) {
      await fallBehind();
      await delay(150);
      assert.equal(node.refusal, undefined, 'it waits for what the other has appended');
      view.follow();
      await delay(200);
      assert.equal(node.refusal, undefined);
      await fallBehind();
      await until(() => node.refusal?.code === 'lost-leaves');
      view.follow();
      await until(() => node.refusal === undefined);
      await node.append(leafOf(base.size));
    }
  },
);

inDirectory(
  'a receipt that waited in vain does not replace a checkpoint that was cosigned since',
  async (directory) => {
    await using witnesses = await startWitnesses(1);
    await using base = await openIn(directory);
    await appendAll(base, upTo(3));
    let isLate = false;
    const receipt: Log['receipt'] = async (id, head) => {
      if (isLate) await until(() => sizeOf(log.checkpoint()) === 4 && log.report().cosigning === 1);
      isLate = head === undefined;
      return base.receipt(id, head);
    };
    const view = Object.assign(viewOf(base), { receipt });
    await using log = await witnesses.watch(view, 1, { timing: { roundMs: 400, waitMs: 50 } });
    await appendAll(base, [3]);
    view.follow();
    await log.receipt(idOf(leafOf(3)));
    assert.ok(await witnesses.cosigned(log.checkpoint()));
  },
);
