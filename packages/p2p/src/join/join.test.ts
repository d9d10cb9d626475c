import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { base58btc } from 'multiformats/bases/base58';
import { freePort, until } from '../../../../tests/support/index.ts';
import { addressOf, newPeerId, useHosts, within } from '../test/hosts.ts';
import { JoinError } from './join-target.ts';
import { createJoinToken, JoinTokenError, readJoinToken } from './join-token.ts';

describe('joining', { concurrency: true }, () => {
  const hosts = useHosts();
  it('takes an address or a token, over TCP and over WebSockets', async () => {
    const both = ['/ip4/127.0.0.1/tcp/0', '/ip4/127.0.0.1/tcp/0/ws'];
    const gateway = await hosts.start('both', { listen: both });
    const [tcp = '', ws = ''] = gateway.addresses();
    assert.match(ws, /\/ws\//);
    for (const [index, target] of [tcp, ws, gateway.joinToken()].entries()) {
      const worker = await hosts.start(`worker-${index}`, { listen: [] });
      assert.deepEqual(await worker.peers.join(target, within()), [gateway.id]);
      const [connected] = worker.peers.connected();
      assert.partialDeepStrictEqual(connected, { direction: 'outbound', isLimited: false });
      assert.equal(connected?.address.includes('/ws/'), index === 1);
    }
  });
  it('fails with the reason of each address', async () => {
    const node = await hosts.start('fails');
    const other = await hosts.start('other');
    const dead = `/ip4/127.0.0.1/tcp/${await freePort()}/p2p/${other.id}`;
    const wrong = addressOf(node).replace(node.id, other.id);
    const third = await hosts.start('third');
    const token = createJoinToken({ peer: other.id, addresses: [dead, wrong] });
    await assert.rejects(third.peers.join(token, within()), (error) => {
      assert.ok(error instanceof JoinError);
      assert.deepEqual(Object.keys(error.reasons), [dead, wrong]);
      assert.match(error.reasons[dead] ?? '', /connection was refused .*ECONNREFUSED/);
      assert.match(error.reasons[wrong] ?? '', /another host answers there/);
      assert.equal(error.message.split(other.id).length, 2, 'the peer id appears once');
      return true;
    });
    const unreadable = `nonsense 127.0.0.1:9788 http://127.0.0.1:9788 /ip4/127.0.0.1/tcp/1 /ip4/127/tcp/x
      /ip4/127.0.0.1/tcp/1/p2p/12D3 strata1xyz`.split(/\s+/);
    for (const target of unreadable)
      await assert.rejects(third.peers.join(target, within()), {
        name: 'JoinError',
        message: /^join takes an address with a peer id (?!.*(?:multiaddr|Multiaddr|strata1xyz)).* or a join token/s,
      });
    await assert.rejects(hosts.start('fourth', { join: ['nonsense'] }), JoinError);
  });
  it('is retried until the target is online, and again when the target returns', async () => {
    const gatewayListen = { listen: [`/ip4/127.0.0.1/tcp/${await freePort()}`] };
    const first = await hosts.start('late', gatewayListen);
    const address = addressOf(first);
    await first[Symbol.asyncDispose]();

    const worker = await hosts.start('early', { listen: [], join: [address] });
    const events: string[] = [];
    const stop = new AbortController();
    worker.peers.watch(({ kind, peer }) => events.push(`${kind} ${peer === first.id}`), stop.signal);
    const isConnected = () => worker.peers.connected().length > 0;
    const again = await hosts.start('late', gatewayListen);
    assert.equal(again.id, first.id);
    await until(isConnected);
    await again[Symbol.asyncDispose]();
    await until(() => !isConnected());
    await hosts.start('late', gatewayListen);
    await until(isConnected);
    assert.deepEqual(events, ['connected true', 'disconnected true', 'connected true']);
    stop.abort();
  });
  it('measures the round-trip time of a peer, until that peer disconnects', async () => {
    const a = await hosts.start('near');
    const b = await hosts.start('far', { join: [a.joinToken()] });
    await until(() => a.peers.roundTripMs(b.id) !== undefined);
    assert.ok((a.peers.roundTripMs(b.id) ?? -1) >= 0 && a.peers.roundTripMs('12D3KooWunknown') === undefined);
    await b[Symbol.asyncDispose]();
    await until(() => a.peers.roundTripMs(b.id) === undefined);
  });
  it('reports existing connections to a new watcher, until it is aborted', async () => {
    const a = await hosts.start('watched');
    const b = await hosts.start('watching', { join: [a.joinToken()] });
    await until(() => b.peers.connected().length === 1);
    const kinds: string[] = [];
    const stop = new AbortController();
    b.peers.watch(({ kind }) => kinds.push(kind), stop.signal);
    assert.deepEqual(kinds, ['connected']);
    stop.abort();
    await a[Symbol.asyncDispose]();
    await until(() => b.peers.connected().length === 0);
    assert.deepEqual(kinds, ['connected']);
  });
});

const [peer, relay] = [String(await newPeerId()), String(await newPeerId())];
const addresses = [
  `/ip4/192.0.2.7/tcp/4001/p2p/${peer}`,
  `/ip6/2001:db8::1/tcp/4002/ws/p2p/${peer}`,
  `/dns4/strata.example/tcp/443/tls/ws/p2p/${peer}`,
  `/ip4/192.0.2.9/tcp/4001/p2p/${relay}/p2p-circuit/p2p/${peer}`,
];

function sealed(body: Uint8Array): string {
  const check = createHash('sha256').update('strata1').update(body).digest().subarray(0, 4);
  return `strata1${base58btc.baseEncode(Buffer.concat([body, check]))}`;
}

it('a join token reads back as it was made, with a network key or without', () => {
  for (const key of [{}, { networkKey: new Uint8Array(randomBytes(32)) }])
    assert.deepEqual(readJoinToken(createJoinToken({ peer, addresses, ...key })), { peer, addresses, ...key });
});

it('a join token is short, and selected by a double click', () =>
  assert.match(createJoinToken({ peer, addresses: addresses.slice(0, 1) }), /^strata1[1-9A-HJ-NP-Za-km-z]{1,72}$/));

it('a join token contains at most eight addresses, and needs one', () => {
  const many = Array.from({ length: 30 }, (_, index) => `/ip4/192.0.2.${index}/tcp/4001/p2p/${peer}`);
  assert.deepEqual(readJoinToken(createJoinToken({ peer, addresses: many })).addresses, many.slice(0, 8));
  assert.throws(() => createJoinToken({ peer, addresses: [] }), JoinTokenError);
});

it('a join token is refused with any character changed, missing or added', () => {
  const token = createJoinToken({ peer, addresses });
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'x' ? 'y' : 'x';
    assert.throws(() => readJoinToken(token.slice(0, at) + other + token.slice(at + 1)), JoinTokenError);
    assert.throws(() => readJoinToken(token.slice(0, at)), JoinTokenError);
  }
  assert.throws(() => readJoinToken(`${token}1`), JoinTokenError);
});

it('a join token is refused, and nothing else happens, whatever its content', () => {
  const good = Buffer.from(base58btc.baseDecode(createJoinToken({ peer, addresses }).slice(7))).subarray(0, -4);
  for (let round = 0; round < 2_000; round += 1) {
    const body = round % 2 ? randomBytes(round % 200) : Buffer.from(good);
    if (body.length > 0) body[round % body.length] = round;
    try {
      const token = readJoinToken(sealed(body.subarray(0, round % 3 ? body.length : round % body.length)));
      assert.ok(token.addresses.length > 0 && token.addresses.length <= 8);
    } catch (error) {
      assert.ok(error instanceof JoinTokenError, String(error));
    }
  }
  for (const text of ['', 'strata1', 'strata10OIl', `strata1${'z'.repeat(1_000_000)}`, 'strata2abc', 'strata1é', ' '])
    assert.throws(() => readJoinToken(text), JoinTokenError);
});
