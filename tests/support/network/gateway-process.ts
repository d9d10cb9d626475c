// A gateway of the network in a process of its own, for tests and benches.
import net from 'node:net';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { createSimulatedEngine } from '@strata/testnet';
import { reportUse } from '../../../bench/measure.ts';
import type { ProcessOptions } from './worker-process.ts';

export type GatewayReady = typeof ready;

const argument = JSON.parse(process.argv[2] ?? '{}') as ProcessOptions;
const { data, settings, simulated, clockOffsetMs = 0, localAddress } = argument;
if (localAddress !== undefined) {
  // The TCP transport of libp2p calls this, and has no setting for the address.
  const connect = net.connect as (options: net.NetConnectOpts) => net.Socket;
  net.connect = ((options: net.NetConnectOpts) => connect({ ...options, localAddress })) as typeof net.connect;
}
const config = readGatewayConfig({
  ...{ STRATA_DATA: data, STRATA_INFERENCE_PORT: '0', STRATA_NETWORK: 'on', STRATA_QUEUE: '2000' },
  ...{ STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off', STRATA_LOG_LEVEL: 'error' },
  ...settings,
});
const own = simulated && createSimulatedEngine(simulated);
const world = own ? { engines: { [own.info.name]: own } } : {};
if (clockOffsetMs !== 0) {
  // The machine's clock: with a `now` of its own, a gateway would not ask its database.
  process.env.TEST_CLOCK_OFFSET_MS = String(clockOffsetMs);
  await import('../shifted-clock.ts');
}
const running = await startGateway(config, createLogger({ level: config.logLevel }), world);
const { network } = running.gateway;
if (network === undefined) throw new Error('this gateway is not on the network');
const { key } = await running.gateway.keys.create({ tier: 'unlimited', label: 'cluster' });
reportUse();
process.once('disconnect', async () => {
  await running[Symbol.asyncDispose]();
  process.exit(0);
});
const ready = {
  base: `http://${config.host}:${running.port}`,
  ...{ port: running.port, key },
  peer: network.node.id,
  addresses: network.node.addresses(),
  joinToken: network.joinToken(),
};
process.send?.(ready);
