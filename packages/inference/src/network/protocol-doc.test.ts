// docs/network-protocol.md says what the code does: its messages, word for word, every kind and code, and the bounds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { FAILURE_CODES, Frame, MOST_PART_BYTES, PROTOCOL, PROTOCOL_VERSION } from './frame.ts';
import { FRAME_PROTO } from './frame-proto.ts';
import { offerSignedBytes, segmentSignedBytes, settleSignedBytes } from './segment.ts';
import { MOST_FRAME_BYTES, MOST_MESSAGES, MOST_NUMBERS } from './wire-types.ts';

const doc = readFileSync(new URL('../../../../docs/network-protocol.md', import.meta.url), 'utf8');
const count = (value: number) => value.toLocaleString('en-US');

describe('docs/network-protocol.md', () => {
  it('has the messages word for word', () => {
    assert.equal(/```proto\n(.*?)```/s.exec(doc)?.[1]?.trim(), FRAME_PROTO.trim());
  });

  it('tells of every kind of frame and every code of failure', () => {
    const rows = [...doc.matchAll(/^\| ((?:`[a-z_-]+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`([a-z_-]+)`/g)].map(([, name]) => name),
    );
    const kinds = Frame.options.map(({ shape }) => shape.kind.value.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`));
    for (const name of [...kinds, ...FAILURE_CODES]) assert.ok(rows.includes(name), name);
  });

  it('tells the bounds as they are', () => {
    assert.ok(doc.includes(`\`${PROTOCOL}\``) && doc.includes(`\`version\` ${PROTOCOL_VERSION};`));
    for (const bound of [MOST_FRAME_BYTES, MOST_NUMBERS, MOST_MESSAGES])
      assert.ok(doc.includes(count(bound)), `${bound}`);
    assert.ok(doc.includes(`at most ${MOST_PART_BYTES / 1024 ** 2} MiB of it`));
  });

  it('tells what each signature begins with', () => {
    for (const signed of [offerSignedBytes, segmentSignedBytes, settleSignedBytes]) {
      const bytes = signed(new Uint8Array());
      assert.equal(bytes.at(-1), 0);
      assert.ok(doc.includes(`"${new TextDecoder().decode(bytes.subarray(0, -1))}"`));
    }
  });
});
