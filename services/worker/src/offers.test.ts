import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { decodeFrame, decodeOffer, OFFERS_TOPIC } from '@strata/inference';
import pino from 'pino';
import { Offers } from './offers.ts';
import { simulatedModel } from './test/running-worker.ts';

const { privateKey } = generateKeyPairSync('ed25519');
/** Promises that are due are over by then; timers stand still. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('offers', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 }));
  afterEach(() => mock.timers.reset());

  async function started() {
    const gossiped: Uint8Array[] = [];
    const places = { running: 0, waiting: 0 };
    const state = { isFit: true };
    const offers = await Offers.start({
      node: {
        id: 'worker',
        sign: async (bytes) => sign(null, bytes, privateKey),
        gossip: {
          subscribe: async () => {},
          publish: async (topic, message) => {
            assert.equal(topic, OFFERS_TOPIC);
            gossiped.push(message);
          },
        },
      },
      ...{ places, model: simulatedModel({ slots: 2 }), logger: pino({ level: 'silent' }), nowMs: () => Date.now() },
      isFit: () => state.isFit,
    });
    const told = () =>
      gossiped.map((message) => {
        const frame = decodeFrame(message);
        assert.ok(frame.kind === 'offer');
        return decodeOffer(frame.offer);
      });
    return { offers, places, state, told };
  }

  it('say that there is nothing once they are withdrawn, whatever ends after that', async () => {
    const { offers, places, told } = await started();
    places.running = 2;
    offers.noteLoad();
    await offers.withdraw();
    places.running = 1;
    offers.noteLoad();
    for (let i = 0; i < 5; i += 1) {
      mock.timers.tick(30_000);
      await settled();
    }
    assert.deepEqual(
      told().map(({ models }) => models.length),
      [1, 0],
    );
    await offers[Symbol.asyncDispose]();
  });

  it('have no model while nothing can be served, and have it again soon after', async () => {
    const { offers, state, told } = await started();
    const passing = async () => {
      for (let i = 0; i < 7; i += 1) {
        mock.timers.tick(1_000);
        await settled();
      }
    };
    state.isFit = false;
    await passing();
    state.isFit = true;
    await passing();
    assert.deepEqual(
      told().map(({ models }) => models.length),
      [1, 0, 1],
    );
    await offers[Symbol.asyncDispose]();
  });

  it('are renewed long before they expire, each with a higher number', async () => {
    const { offers, told } = await started();
    for (let i = 0; i < 3; i += 1) {
      mock.timers.tick(30_000);
      await settled();
    }
    const all = told();
    assert.equal(all.length, 4);
    assert.ok(all.every(({ sequence }, i) => i === 0 || sequence > (all[i - 1]?.sequence ?? 0)));
    assert.ok(all.every(({ issuedAtMs }, i) => issuedAtMs < (all[i - 1]?.expiresAtMs ?? Number.POSITIVE_INFINITY)));
    await offers[Symbol.asyncDispose]();
  });

  it('tell of a load that matters, and at most every five seconds', async () => {
    const { offers, places, told } = await started();
    const heard: Uint8Array[] = [];
    const stopping = new AbortController();
    offers.watch(({ offer }) => heard.push(offer), stopping.signal);
    for (const running of [1, 2, 1, 2]) {
      places.running = running;
      offers.noteLoad();
    }
    assert.equal(told().length, 1, 'not at once');
    mock.timers.tick(5_000);
    await settled();
    assert.deepEqual(
      told().map(({ running }) => running),
      [0, 2],
    );
    offers.noteLoad();
    mock.timers.tick(5_000);
    await settled();
    assert.equal(told().length, 2, 'what was told is not told again');
    assert.equal(heard.length, 1);
    await offers[Symbol.asyncDispose]();
  });

  it('are withdrawn by one without models, and not renewed after it', async () => {
    const { offers, told } = await started();
    await offers.withdraw();
    mock.timers.tick(120_000);
    await settled();
    assert.deepEqual(
      told().map(({ models }) => models.length),
      [1, 0],
    );
    await offers[Symbol.asyncDispose]();
  });
});
