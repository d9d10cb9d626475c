// Receipts of answers that workers of the network made: each part is told, under the signature, and nothing where there were none.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Engine, JobContext } from '@strata/engine';
import { createLogger } from '@strata/http';
import { verifyAnswer } from '@strata/receipts';
import { createSimulatedEngine } from '@strata/testnet';
import { createGateway } from './app.ts';
import { readGatewayConfig } from './config.ts';
import { KEY_SET_PATH } from './ledger-routes.ts';
import type { Json } from './test/harness.ts';
import { MOST_SEGMENTS, WorkersHeard } from './workers-heard.ts';

const HEAD = 'c'.repeat(64);
const nonceOf = (seed: number) => createHash('md5').update(String(seed)).digest('hex');

/** An engine whose answers two workers make: the first dies after three tokens. `heard` gets what it was told of each job. */
function twoWorkers(heard: JobContext[]): Engine {
  const simulated = createSimulatedEngine({ answerTokens: 8 }) as unknown as Engine;
  return {
    ...simulated,
    info: simulated.info,
    isReady: true,
    async *generate(job, signal, context = {}) {
      heard.push(context);
      const { seed } = job.sampling;
      let position = 0;
      let from = 0;
      let worker = 'first';
      const over = () =>
        context.onSegment?.({ worker, nonce: nonceOf(seed + from), from, to: position, chainHead: HEAD });
      try {
        for await (const event of simulated.generate(job, signal, context)) {
          if (event.kind === 'token') position += 1;
          if (position === 4 && worker === 'first') {
            position = 3;
            over();
            position = 4;
            worker = 'second';
            from = 3;
          }
          yield event;
        }
      } finally {
        over();
      }
    },
  };
}

async function withGateway(engine: Engine, use: (ask: Ask) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-workers-heard-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const config = readGatewayConfig({ STRATA_DATA: directory, STRATA_MODEL: '/nowhere.gguf' });
  const gateway = stack.use(
    await createGateway({ ...config, model: undefined }, createLogger({ level: 'silent' }), { engines: { m: engine } }),
  );
  const { key, stored } = await gateway.keys.create({ tier: 'unlimited' });
  const inject = async (url: string, body?: object) => {
    const { payload, headers, statusCode } = await gateway.server.fastify.inject({
      ...{ method: body ? 'POST' : 'GET', url, headers: { authorization: `Bearer ${key}` } },
      ...(body ? { payload: body } : {}),
    });
    assert.equal(statusCode, 200, payload);
    return { payload, headers };
  };
  await use({
    keyId: stored.id,
    async receiptOf(body) {
      const { headers } = await inject('/v1/chat/completions', {
        ...{ model: 'm', messages: [{ role: 'user', content: 'x' }], seed: 5 },
        ...body,
      });
      const receipt = JSON.parse((await inject(`/v1/receipts/${headers['x-receipt-id']}`)).payload) as Json;
      const keySet = JSON.parse((await inject(KEY_SET_PATH)).payload) as Json;
      const leaf = `/ledger/receipts/${receipt.provenance.ledger_receipt_id}`;
      const ledgerReceipt = JSON.parse((await inject(leaf)).payload) as Json;
      assert.ok((await verifyAnswer(receipt, { keySet, ledgerReceipt })).ok);
      return receipt;
    },
  });
}

interface Ask {
  readonly keyId: string;
  /** Asks, and gives the verified receipt of the answer. */
  receiptOf(body: object): Promise<Json>;
}

const part = (choice: number, worker: string, seed: number, [from, to]: readonly [number, number]) => ({
  ...{ choice, worker, nonce: nonceOf(seed + from), from, to, chain_head: HEAD },
});

describe('the receipt of an answer that workers made', () => {
  it('tells each part of each choice, and the engine knows who asked', async () => {
    const heard: JobContext[] = [];
    await withGateway(twoWorkers(heard), async ({ receiptOf, keyId }) => {
      for (const stream of [false, true]) {
        const receipt = await receiptOf({ n: 2, stream });
        assert.deepEqual(receipt.segments, [
          part(0, 'first', 5, [0, 3]),
          part(0, 'second', 5, [3, 8]),
          part(1, 'first', 6, [0, 3]),
          part(1, 'second', 6, [3, 8]),
        ]);
      }
      assert.deepEqual(
        heard.map(({ caller }) => caller),
        [keyId, keyId, keyId, keyId],
      );
    });
  });

  it('tells what a worker made beyond a stop string too, and nobody who had no part', async () => {
    await withGateway(twoWorkers([]), async ({ receiptOf }) => {
      const receipt = await receiptOf({ stop: ' w' });
      assert.deepEqual(receipt.segments, [part(0, 'first', 5, [0, 1])]);
    });
  });

  it('says nothing of workers where there were none', async () => {
    await withGateway(createSimulatedEngine({ answerTokens: 8 }) as unknown as Engine, async ({ receiptOf }) => {
      assert.equal('segments' in (await receiptOf({})), false);
    });
  });
});

it('a receipt tells of so many parts and no more', () => {
  const workers = new WorkersHeard();
  const hear = workers.ofChoice(0);
  for (let from = 0; from <= MOST_SEGMENTS; from += 1)
    hear({ worker: 'w', nonce: nonceOf(from), from, to: from + 1, chainHead: HEAD });
  const told = workers.segments();
  assert.equal(told.length, MOST_SEGMENTS);
  assert.equal(told.at(-1)?.from, MOST_SEGMENTS - 1);
});
