import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failsWith } from '../test/scene.ts';
import { formatReference, parseReference } from './reference.ts';

const repository = { owner: 'bartowski', name: 'Llama-3.2-1B-Instruct-GGUF', revision: 'main' };
const base = 'hf:bartowski/Llama-3.2-1B-Instruct-GGUF';

describe('a reference', () => {
  it('may be a local file', () => {
    for (const path of ['model.gguf', './a b/Modell ä.GGUF', '/var/models/x.gguf', 'C:\\models\\x.gguf', '../x.gguf'])
      assert.deepEqual(parseReference(path), { kind: 'local', path });
  });

  it('may be a location on a hub, with a revision or without', () => {
    for (const [reference, revision, wanted] of [
      [base, 'main', { kind: 'any' }],
      [`${base}@v1.0`, 'v1.0', { kind: 'any' }],
      [`${base}:Q4_K_M`, 'main', { kind: 'quant', quant: 'Q4_K_M' }],
      [`${base}:q8_0@refs/pr/3`, 'refs/pr/3', { kind: 'quant', quant: 'q8_0' }],
      [`${base}/x.gguf`, 'main', { kind: 'file', path: 'x.gguf' }],
      [`${base}/Q8_0/x-00001-of-00003.gguf@5ab1`, '5ab1', { kind: 'file', path: 'Q8_0/x-00001-of-00003.gguf' }],
    ] as const) {
      const expected = { kind: 'hub', repository: { ...repository, revision }, wanted };
      assert.deepEqual(parseReference(reference), expected, reference);
    }
  });

  it('is refused when it is anything else', () => {
    for (const reference of [
      ...['', 'x\0.gguf', 'hf:a/b/c d.gguf', 'hf:a/b/c\\d.gguf', 'hf:a/b/c\n.gguf', 'hf:a/b:Q4 K', 'hf:a/b@a b'],
      ...'model model.bin https://huggingface.co/a/b hf: hf:a hf:a/ hf:/b hf:a/b/ hf:a/b: hf:a/b@'.split(' '),
      ...'hf:../b hf:a/.. hf:a/. hf:./b hf:.a/b hf:-a/b hf:a..b/c hf:a@evil.example/b'.split(' '),
      ...'hf:a/b/../c.gguf hf:a/b//c.gguf hf:a/b/.c.gguf hf:a/b/x./c.gguf hf:a/b/x/./c.gguf'.split(' '),
      ...'hf:a/b/..%2fc.gguf hf:a/b/c..d.gguf hf:a/b/c.bin hf:a/b/c.gguf?x hf:a/b/c.gguf#x hf:a/b/ü.gguf'.split(' '),
      ...'hf:a/b:Q4/K hf:a/b:Q4:K hf:a/b:../Q4 hf:a/b:(a+)+$ hf:a/b:Q4/c.gguf'.split(' '),
      ...'hf:a/b@../main hf:a/b@main/ hf:a/b@x@y'.split(' '),
      ...[`hf:${'a'.repeat(97)}/b`, `hf:a/b/${'c'.repeat(201)}.gguf`, `hf:a/b/${'c/'.repeat(300)}d.gguf`],
      `hf:${'a'.repeat(1_000_000)}`,
    ])
      assert.throws(() => parseReference(reference), failsWith('bad-reference'), reference.slice(0, 80));
  });

  it('is shown short and printable in the message', () => {
    const reference = `hf:\u001b[31m${'x'.repeat(5_000)}`;
    const isShort = ({ message }: Error) => message.length < 500 && !message.includes('\u001b');
    assert.throws(() => parseReference(reference), isShort);
  });

  it('is formatted as it was written', () => {
    for (const reference of [`${base}/a/b.gguf`, `${base}/b.gguf@refs/pr/3`]) {
      const parsed = parseReference(reference);
      assert.ok(parsed.kind === 'hub' && parsed.wanted.kind === 'file');
      assert.equal(formatReference(parsed.repository, parsed.wanted.path), reference);
    }
  });
});
