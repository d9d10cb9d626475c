import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { JoinAddresses, NetworkKeyError, PeerItems, peerNodeOptions, readPeerSettings } from './settings.ts';
import { useDirectory } from './test/hosts.ts';

const defaults = { directory: '/data/host', listen: ['/ip4/0.0.0.0/tcp/0'] };
const Items = z.object(PeerItems);
const read = (items: Readonly<Record<string, string>>, STRATA_JOIN: readonly string[] = []) =>
  readPeerSettings({ STRATA_JOIN, STRATA_P2P: Items.parse(items) }, defaults);
const key = '0f'.repeat(32);

it('the settings of a host has the defaults of its service where nothing is set', () => {
  assert.deepEqual(read({}), {
    keyFile: path.join('/data/host', 'peer.key'),
    knownPeersFile: path.join('/data/host', 'known-peers.json'),
    join: [],
    listen: ['/ip4/0.0.0.0/tcp/0'],
    isMdnsOn: true,
    isRelay: false,
    arePrivateAddressesAnnounced: true,
  });
});

it('the settings of a host takes lists apart by commas and spaces, each value once', () => {
  const listen = '/ip4/0.0.0.0/tcp/4001,/ip4/0.0.0.0/tcp/4002/ws';
  const settings = read({ listen, mdns: 'off' }, JoinAddresses.parse('/ip4/192.0.2.1/tcp/4001, token-a token-a'));
  assert.deepEqual(settings.join, ['/ip4/192.0.2.1/tcp/4001', 'token-a']);
  assert.deepEqual(settings.listen, ['/ip4/0.0.0.0/tcp/4001', '/ip4/0.0.0.0/tcp/4002/ws']);
  assert.equal(settings.isMdnsOn, false);
});

const wrong = { listen: '0.0.0.0:4001', allow: 'not-a-peer', mdns: 'yes' };
for (const [name, value] of Object.entries(wrong))
  it(`the settings of a host refuses ${name}=${value}, and names it`, () => {
    const { error } = Items.safeParse({ [name]: value });
    assert.deepEqual(error?.issues[0]?.path, [name]);
  });

describe('the key of a private network', () => {
  const directory = useDirectory();
  const optionsWith = async (text: string, mode = 0o600) => {
    const file = path.join(directory.path, `network-${mode}.key`);
    if (text !== '') await writeFile(file, text, { mode });
    return peerNodeOptions(read({ 'network-key-file': file }));
  };

  it('is read as hexadecimal digits, and as a swarm.key file', async () => {
    for (const text of [key, `${key}\n`, `/key/swarm/psk/1.0.0/\n/base16/\n${key}\n`])
      assert.deepEqual((await optionsWith(text)).networkKey, Buffer.from(key, 'hex'));
  });
  it('is refused when other users can read it, with the command that repairs it', async () => {
    const file = path.join(directory.path, `network-${0o644}.key`);
    const message = `other users can access the key file ${file}: run "chmod 600 ${file}"`;
    await assert.rejects(optionsWith(key, 0o644), { name: 'NetworkKeyError', message });
  });
  it('is refused when it is too short, or missing', async () => {
    await assert.rejects(optionsWith(key.slice(2)), NetworkKeyError);
    await assert.rejects(optionsWith('', 0o400), NetworkKeyError);
  });
});
