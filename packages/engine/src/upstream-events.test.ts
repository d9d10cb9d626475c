import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failedAs } from './test/upstream-harness.ts';
import { EventReader, type StreamEvent } from './upstream-events.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

function read(...parts: readonly Uint8Array[]): StreamEvent[] {
  const reader = new EventReader();
  return [...parts.flatMap((part) => reader.push(part)), ...reader.end()];
}

const dataOf = (text: string) => read(bytesOf(text)).map(({ data }) => data);

describe('events', () => {
  it('are the same wherever their bytes are cut', () => {
    const text =
      'data: {"a":"é€😀"}\r\n\r\n: ping\n\ndata:zwei\rdata: drei\r\revent: error\ndata: vier\n\ndata: 5\r\ndata: 6\r\n\r\ndata: [DONE]\n\n';
    const bytes = bytesOf(text);
    const whole = read(bytes);
    assert.deepEqual(whole, [
      { type: '', data: '{"a":"é€😀"}' },
      { type: '', data: 'zwei\ndrei' },
      { type: 'error', data: 'vier' },
      { type: '', data: '5\n6' },
      { type: '', data: '[DONE]' },
    ]);
    for (let at = 0; at <= bytes.length; at += 1)
      assert.deepEqual(read(bytes.subarray(0, at), bytes.subarray(at)), whole, `cut at ${at}`);
    assert.deepEqual(read(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), whole);
  });

  it('may end lines in any of three ways, also in one stream', () => {
    for (const end of ['\n', '\r\n', '\r'])
      assert.deepEqual(dataOf(`data: 1${end}data: 2${end}${end}data: 3${end}${end}`), ['1\n2', '3']);
  });

  it('are told from comments, empty ones and fields that nobody knows', () => {
    const text = ': a\n\nid: 4\nretry: 1\n\nevent: x\n\ndata\n\ndata:\n\ndata:  two\n\nnothing\n\n';
    assert.deepEqual(dataOf(text), ['', '', ' two']);
  });

  it('may begin with a mark of byte order, and end without an empty line', () => {
    assert.deepEqual(dataOf('\ufeffdata: 1\n\ndata: [DONE]'), ['1', '[DONE]']);
  });

  it('are errors in the field of that name too', () => {
    assert.deepEqual(read(bytesOf('error: {"code":500}\n\n')), [{ type: 'error', data: '{"code":500}' }]);
  });

  it('are refused beyond any of their bounds', () => {
    const limits = { eventChars: 100, bytes: 1_000, events: 10 };
    for (const [part, message] of [
      ['x', /an event of more than 100 characters/],
      ['data: 12345678\n', /an event of more than 100 characters/],
      [':\n', /more than 1000 bytes/],
      ['data\n\n', /more than 10 events/],
    ] as const) {
      const reader = new EventReader(limits);
      const pushAll = () => Array.from({ length: 1_000 }, () => reader.push(bytesOf(part)));
      assert.throws(pushAll, failedAs('upstream-failed', message));
    }
  });

  it('are bounded unless told otherwise', () => {
    const reader = new EventReader();
    const part = bytesOf('x'.repeat(1024 * 1024));
    for (let i = 0; i < 2; i += 1) reader.push(part);
    assert.throws(() => reader.push(part), /an event of more than 2097152 characters/);
  });
});
