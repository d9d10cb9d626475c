import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { until } from '../../../tests/support/until.ts';
import { JoinError } from './join-target.ts';
import { createJoinToken } from './join-token.ts';
import { addressOf, useHosts, within } from './test/hosts.ts';

/** A port at which nobody listens, for now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('joining', { concurrency: true }, () => {
  const hosts = useHosts();

  it('takes an address or a token, over TCP and over WebSockets', async () => {
    const both = ['/ip4/127.0.0.1/tcp/0', '/ip4/127.0.0.1/tcp/0/ws'];
    const gateway = await hosts.start('both', { listen: both });
    const [tcp, ws] = gateway.addresses();
    assert.ok(tcp && ws);
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
    const port = await freePort();
    const dead = `/ip4/127.0.0.1/tcp/${port}/p2p/${other.id}`;
    const wrong = `${addressOf(node).split('/p2p/')[0]}/p2p/${other.id}`;
    const token = createJoinToken({ peer: other.id, addresses: [dead, wrong] });
    const third = await hosts.start('third');
    await assert.rejects(third.peers.join(token, within()), (error) => {
      assert.ok(error instanceof JoinError);
      assert.deepEqual(Object.keys(error.reasons), [dead, wrong]);
      assert.match(error.reasons[dead] ?? '', /nobody listens there .*ECONNREFUSED/);
      assert.match(error.reasons[wrong] ?? '', /another host answers there/);
      assert.equal(error.message.split(other.id).length, 2, 'the peer id is said once');
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

  it('is tried again until the target is there, and again when it comes back', async () => {
    const port = await freePort();
    const gatewayListen = { listen: [`/ip4/127.0.0.1/tcp/${port}`] };
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

  it('knows the distance of a peer soon, and forgets it', async () => {
    const a = await hosts.start('near');
    const b = await hosts.start('far', { join: [a.joinToken()] });
    await until(() => a.peers.roundTripMs(b.id) !== undefined);
    assert.ok((a.peers.roundTripMs(b.id) ?? -1) >= 0);
    assert.equal(a.peers.roundTripMs('12D3KooWnobody'), undefined);
    await b[Symbol.asyncDispose]();
    await until(() => a.peers.roundTripMs(b.id) === undefined);
  });

  it('tells what is connected already to who begins to watch, until it is told to stop', async () => {
    const a = await hosts.start('watched');
    const b = await hosts.start('watching', { join: [a.joinToken()] });
    await until(() => b.peers.connected().length === 1);
    const heard: string[] = [];
    const stop = new AbortController();
    b.peers.watch(({ kind }) => heard.push(kind), stop.signal);
    assert.deepEqual(heard, ['connected']);
    stop.abort();
    await a[Symbol.asyncDispose]();
    await until(() => b.peers.connected().length === 0);
    assert.deepEqual(heard, ['connected']);
  });
});
