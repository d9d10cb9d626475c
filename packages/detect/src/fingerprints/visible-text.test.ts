import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { visibleText } from './visible-text.ts';

describe('visibleText', () => {
  it('is what a reader sees, with single blanks', () => {
    const page =
      '<title>T</title><p>One&nbsp;&amp;\n <b>two</b>three</p><!-- no --><style>p{}</style><SCRIPT>x("<p>no</p>")</SCRIPT>four';
    assert.equal(visibleText(page), 'T One & two three four');
    assert.equal(visibleText('<img alt="no"><template><i>no</i>no</template><noscript>no</noscript>yes'), 'yes');
  });
  it('takes pages of any quality', () => {
    for (const page of [
      ...['', '<', '<a', '<script>', '<p>a<script>b', '</p></p>a', '&#0;&bogus;', '<![CDATA[x]]>', '\ud800'],
    ])
      assert.equal(typeof visibleText(page), 'string');
  });
  it('takes time in proportion to the page', () => {
    const startedAt = performance.now();
    for (const piece of ['<p>', '<script>', '</', '&', '<a b="', '<!--', ' ', '<style><'])
      visibleText(piece.repeat(200_000));
    // About a second; time that grows with the square would take hours.
    assert.ok(performance.now() - startedAt < 20_000);
  });
});
