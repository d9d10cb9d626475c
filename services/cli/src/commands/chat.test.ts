// What `strata inference chat` does with a gateway that breaks off, stands elsewhere or is hostile; inference.test.ts has a real one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeService } from '../test/mcp-client.ts';
import { assertEnds } from '../test/run-strata.ts';
import { forTerminal } from './chat.ts';

const piece = (content: unknown) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** Runs `strata inference chat` against a gateway that answers so, at this path; what it printed. */
async function chatWith(text: string, code: number, words: RegExp, at = '') {
  const paths: string[] = [];
  await using gateway = await fakeService((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text));
  });
  const command = `inference chat --model m --base ${gateway.base}${at} --key sk-1 Hi`;
  return [(await assertEnds(command, code, words)).stdout, ...paths];
}

describe('strata inference chat', () => {
  for (const [what, rest, words] of [
    ['an answer breaks off', '', /broke off before the answer was over/],
    ['an error comes midway', 'data: {"error":{"message":"Lost.","type":"server_error"}}\n\n', /Lost\./],
    ['a chunk is not JSON', 'data: {\n\n', /a chunk that cannot be read/],
    ['a chunk is odd', piece(7), /a chunk that cannot be read/],
  ] as const)
    it(`fails where ${what}; what came is printed`, async () =>
      assert.equal((await chatWith(piece('Half') + rest, 1, words))[0], 'Half\n'));

  it('finds a gateway that stands below a path of its host', async () => {
    const answer = `${piece('Yes')}data: [DONE]\n\n`;
    assert.deepEqual(await chatWith(answer, 0, /^/, '/lent/v1'), ['Yes\n', '/lent/v1/chat/completions']);
  });

  it('lets no model steer a terminal', () => {
    assert.equal(forTerminal('a\u001b]0;title\u0007b\u009b2Jc\r\n\td\u007f'), 'a]0;titleb2Jc\n\td');
  });
});
