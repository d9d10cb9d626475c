import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { decodeFrame, decodeOffer, type FrameOf, OFFERS_TOPIC } from '@strata/inference';
import pino from 'pino';
import { simulatedModel } from '../test/running-worker.ts';
import { Offers } from './offers.ts';

const { privateKey } = generateKeyPairSync('ed25519');
/** Runs pending promises; timers do not advance. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('offers', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 }));
  afterEach(() => mock.timers.reset());

  async function started() {
    const gossiped: Uint8Array[] = [];
    const slots = { running: 0, waiting: 0, slots: 2 };
    const state = { isFit: true };
    const subscribe = async () => {};
    const publish = async (topic: string, message: Uint8Array) => {
      assert.equal(topic, OFFERS_TOPIC);
      gossiped.push(message);
    };
    const offers = await Offers.start({
      node: { id: 'worker', sign: async (bytes) => sign(null, bytes, privateKey), gossip: { subscribe, publish } },
      ...{ slots, models: [simulatedModel({ slots: 2 })], logger: pino({ level: 'silent' }), nowMs: () => Date.now() },
      isFit: () => state.isFit,
    });
    const announced = () => gossiped.map((message) => decodeOffer((decodeFrame(message) as FrameOf<'offer'>).offer));
    const models = () => announced().map((offer) => offer.models.length);
    return { offers, slots, state, announced, models, [Symbol.asyncDispose]: () => offers[Symbol.asyncDispose]() };
  }
  const passing = async (times: number, ms: number) => {
    for (let i = 0; i < times; i += 1) {
      mock.timers.tick(ms);
      await settled();
    }
  };

  it('that are withdrawn are replaced by one without models, and not renewed, whatever ends afterwards', async () => {
    await using scene = await started();
    scene.slots.running = 2;
    scene.offers.noteLoad();
    await scene.offers.withdraw();
    scene.slots.running = 1;
    scene.offers.noteLoad();
    await passing(5, 30_000);
    assert.deepEqual(scene.models(), [1, 0]);
  });
  it('have no model while the worker cannot serve, and have it again soon after', async () => {
    await using scene = await started();
    for (const isFit of [false, true]) {
      scene.state.isFit = isFit;
      await passing(7, 1_000);
    }
    assert.deepEqual(scene.models(), [1, 0, 1]);
  });
  it('are renewed long before they expire, each with a higher number', async () => {
    await using scene = await started();
    await passing(3, 30_000);
    assert.equal(scene.announced().length, 4);
    scene.announced().reduce((before, next) => {
      assert.ok(next.sequence > before.sequence && next.issuedAtMs < before.expiresAtMs);
      return next;
    });
  });
  it('have the load when it changes, at most every five seconds', async () => {
    await using scene = await started();
    const { offers, slots, announced } = scene;
    const watched: Uint8Array[] = [];
    offers.watch(({ offer }) => watched.push(offer), new AbortController().signal);
    for (const running of [1, 2, 1, 2]) {
      slots.running = running;
      offers.noteLoad();
    }
    assert.equal(announced().length, 1, 'not at once');
    await passing(1, 5_000);
    assert.deepEqual([announced()[0]?.running, announced()[1]?.running], [0, 2]);
    offers.noteLoad();
    await passing(1, 5_000);
    assert.deepEqual([announced().length, watched.length], [2, 1], 'the same load is not published again');
  });
});
