import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type GossipSub, TopicValidatorResult } from '@libp2p/gossipsub';
import { until } from '../../../tests/support/until.ts';
import { Conduct } from './conduct.ts';
import type { Gate } from './gate.ts';
import { createGossip, GossipError } from './gossip.ts';
import { GOSSIP } from './limits.ts';
import type { PeerNode } from './peer-node.ts';
import { RateLimit } from './rate-limit.ts';
import { useHosts } from './test/hosts.ts';

const TOPIC = 'strata/test/1';

/** Says it again under a new number until all have heard one of them: a mesh takes a moment to grow. */
async function sayUntil(from: PeerNode, isHeard: (text: string) => boolean): Promise<void> {
  let count = 0;
  await until(async () => {
    count += 1;
    const text = `${from.id} ${count}`;
    await from.gossip.publish(TOPIC, Buffer.from(text));
    await new Promise((resolve) => setTimeout(resolve, 200));
    return isHeard(text);
  });
}

describe('gossip', { concurrency: true }, () => {
  const hosts = useHosts();

  it('reaches who is not connected to its sender, once, with the name of who signed it', async () => {
    // A line: each knows its neighbour alone.
    const middle = await hosts.start('middle');
    const left = await hosts.start('left', { allow: [middle.id], join: [middle.joinToken()] });
    const right = await hosts.start('right', { join: [middle.joinToken()] });
    const heard: string[] = [];
    await left.gossip.subscribe(TOPIC, () => 'accept');
    await middle.gossip.subscribe(TOPIC, () => 'accept');
    await right.gossip.subscribe(TOPIC, (message, from) => {
      if (from === left.id) heard.push(Buffer.from(message).toString());
      return 'accept';
    });
    await until(() => middle.peers.connected().length === 2);
    await sayUntil(left, (text) => heard.includes(text));
    // A dial that the allow-list of the other end refuses may be under way.
    await until(() => !right.peers.connected().some(({ id }) => id === left.id));
    assert.deepEqual(heard, [...new Set(heard)]);
    assert.ok(heard.every((text) => text.startsWith(left.id)));
  });

  it('is not passed on when the listener in between ignores or rejects it', async () => {
    const middle = await hosts.start('judge');
    const left = await hosts.start('speaker', { allow: [middle.id], join: [middle.joinToken()] });
    const right = await hosts.start('hearer', { join: [middle.joinToken()] });
    const judged: string[] = [];
    const heard: string[] = [];
    await left.gossip.subscribe(TOPIC, () => 'accept');
    await middle.gossip.subscribe(TOPIC, (message) => {
      const text = Buffer.from(message).toString();
      judged.push(text);
      return text.startsWith('reject') ? 'reject' : text.startsWith('ignore') ? 'ignore' : 'accept';
    });
    await right.gossip.subscribe(TOPIC, (message) => {
      heard.push(Buffer.from(message).toString());
      return 'accept';
    });
    await until(() => middle.peers.connected().length === 2);
    await sayUntil(left, (text) => heard.includes(text));
    await left.gossip.publish(TOPIC, Buffer.from('reject this'));
    await left.gossip.publish(TOPIC, Buffer.from('ignore this'));
    await until(() => judged.includes('reject this') && judged.includes('ignore this'));
    await sayUntil(left, (text) => heard.includes(text));
    assert.deepEqual(
      heard.filter((text) => /reject|ignore/.test(text)),
      [],
    );
  });

  it('of who is not on the allow-list is not heard, whoever brings it', async () => {
    const middle = await hosts.start('open');
    const stranger = await hosts.start('stranger', { join: [middle.joinToken()] });
    const friend = await hosts.start('friend', { join: [middle.joinToken()] });
    const strict = await hosts.start('strict', { allow: [middle.id, friend.id], join: [middle.joinToken()] });
    const heard: string[] = [];
    for (const node of [middle, stranger, friend]) await node.gossip.subscribe(TOPIC, () => 'accept');
    await strict.gossip.subscribe(TOPIC, (_, from) => {
      heard.push(from);
      return 'accept';
    });
    await until(() => middle.peers.connected().length === 3);
    await Promise.all([
      sayUntil(friend, () => heard.includes(friend.id)),
      stranger.gossip.publish(TOPIC, Buffer.from('from a stranger')),
    ]);
    await stranger.gossip.publish(TOPIC, Buffer.from('from a stranger, again'));
    await sayUntil(friend, () => heard.includes(friend.id));
    assert.ok(!heard.includes(stranger.id));
  });

  it('is bounded in length and for each signer, has one listener, and needs nobody to listen', async () => {
    const a = await hosts.start('busy');
    await a.gossip.publish(TOPIC, Buffer.from('nobody is here'));
    await assert.rejects(a.gossip.publish(TOPIC, new Uint8Array(GOSSIP.mostMessageBytes + 1)), GossipError);
    await a.gossip.subscribe(TOPIC, () => 'accept');
    await assert.rejects(
      a.gossip.subscribe(TOPIC, () => 'accept'),
      GossipError,
    );
    const b = await hosts.start('quiet', { join: [a.joinToken()] });
    let heard = 0;
    await b.gossip.subscribe(TOPIC, () => {
      heard += 1;
      return 'accept';
    });
    await until(() => b.peers.connected().length === 1);
    await sayUntil(a, () => heard > 0);
    const beganAt = Date.now();
    for (let count = 0; count < 500; count += 1) await a.gossip.publish(TOPIC, Buffer.from(`flood ${count}`));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const most = GOSSIP.signerBurst + ((Date.now() - beganAt) / 1_000) * GOSSIP.signerPerSecond + 2;
    assert.ok(heard <= most, `${heard} heard, ${most} allowed`);
  });
});

describe('a neighbour', () => {
  /** The listener of a topic as gossipsub calls it, with what it needs of a message. */
  const listenerOf = async (gate: Gate, conduct: Conduct) => {
    const topicValidators = new Map<string, (neighbour: string, message: object) => TopicValidatorResult>();
    const pubsub = { topicValidators, subscribe: () => {} } as unknown as GossipSub;
    await createGossip(pubsub, gate, conduct).subscribe('t', () => 'accept');
    const hear = topicValidators.get('t');
    assert.ok(hear);
    return (neighbour: string, from: string) => hear(neighbour, { type: 'signed', from, data: Buffer.from('offer') });
  };
  const open = { isAllowed: () => true, gater: {} };

  it('is not blamed for what strangers say through it, and is heard again as soon as they are quiet', async (t) => {
    t.mock.timers.enable({ apis: ['Date'] });
    const conduct = new Conduct();
    const hear = await listenerOf(open, conduct);
    const outcomes = Array.from({ length: 2 * GOSSIP.neighbourBurst }, (_, at) => hear('honest', `stranger-${at}`));
    const accepted = outcomes.filter((outcome) => outcome === TopicValidatorResult.Accept).length;
    assert.equal(accepted, GOSSIP.neighbourBurst);
    assert.equal(outcomes.at(-1), TopicValidatorResult.Ignore);
    assert.equal(conduct.points('honest', Date.now()), 0);
    t.mock.timers.tick(1_000);
    assert.equal(hear('honest', 'worker'), TopicValidatorResult.Accept);
  });

  it('is blamed for its own flood', async () => {
    const conduct = new Conduct();
    const hear = await listenerOf(open, conduct);
    for (let count = 0; count < 200; count += 1) hear('noisy', 'noisy');
    assert.ok(conduct.points('noisy', Date.now()) > 80);
  });

  it('does not use up its bound with those who are not on the allow-list', async () => {
    const hear = await listenerOf({ ...open, isAllowed: (peer) => peer === 'friend' }, new Conduct());
    for (let at = 0; at < 2 * GOSSIP.neighbourBurst; at += 1) hear('honest', `stranger-${at}`);
    assert.equal(hear('honest', 'friend'), TopicValidatorResult.Accept);
  });
});

describe('rate limit', () => {
  it('allows a burst, and then so many a second, for each alone', () => {
    const limit = new RateLimit({ burst: 3, perSecond: 2, most: 10 });
    const taken = (name: string, nowMs: number, times: number) =>
      Array.from({ length: times }, () => limit.take(name, nowMs)).filter(Boolean).length;
    assert.equal(taken('a', 0, 10), 3);
    assert.equal(taken('b', 0, 10), 3);
    assert.equal(taken('a', 1_000, 10), 2);
    assert.equal(taken('a', 500, 10), 0);
    assert.equal(taken('a', 60_000, 10), 3);
  });

  it('remembers a bounded number of names', () => {
    const limit = new RateLimit({ burst: 1, perSecond: 0.001, most: 2 });
    assert.equal(limit.take('a', 0), true);
    assert.equal(limit.take('b', 0), true);
    assert.equal(limit.take('a', 0), false);
    assert.equal(limit.take('c', 0), true);
    assert.equal(limit.take('a', 0), false);
    assert.equal(limit.take('b', 0), true);
  });
});

describe('conduct', () => {
  it('counts against a neighbour, up to a bound, and fades', () => {
    const conduct = new Conduct();
    assert.equal(conduct.points('a', 0), 0);
    conduct.add('a', 10, 0);
    conduct.add('a', 10, 0);
    assert.equal(conduct.points('a', 0), 20);
    assert.equal(conduct.points('a', 30_000), 10);
    conduct.add('a', 1e9, 30_000);
    assert.ok(conduct.points('a', 30_000) <= 1_000);
    assert.equal(conduct.points('b', 0), 0);
  });
});
