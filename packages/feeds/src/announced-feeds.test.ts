import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { announcedFeeds } from './announced-feeds.ts';

const PAGE = 'https://www.example.com/blog/';

describe('the feeds that a page announces', () => {
  it('are its alternates of a feed’s type, absolute, each once', () => {
    const html = `<!doctype html><html><head><title>x</title>
      <LINK REL="Alternate" TYPE="application/RSS+xml; charset=utf-8" HREF="/feed.xml">
      <link rel="alternate home" type="application/atom+xml" href="atom?a=1&amp;b=2"/>
      <link rel=alternate type=application/feed+json href=https://feeds.example.net/x.json>
      <link rel="alternate" type="application/rss+xml" href="/feed.xml">
      <link rel="alternate" type="text/html" hreflang="de" href="/de">
      <link rel="stylesheet" type="application/rss+xml" href="/no.xml">
      <!-- <link rel="alternate" type="application/rss+xml" href="/comment.xml"> -->
      <script>'<link rel="alternate" type="application/rss+xml" href="/script.xml">'</script>`;
    assert.deepEqual(announcedFeeds(html, PAGE), [
      'https://www.example.com/feed.xml',
      'https://www.example.com/blog/atom?a=1&b=2',
      'https://feeds.example.net/x.json',
    ]);
  });

  it('are seen from where the page says it stands', () => {
    const html = '<base href="https://other.example/x/"><link rel=alternate type=application/rss+xml href=feed>';
    assert.deepEqual(announcedFeeds(html, PAGE), ['https://other.example/x/feed']);
  });

  it('are few and of the web, whatever the page says, and found within a moment', () => {
    const link = (href: string) => `<link rel="alternate" type="application/rss+xml" href="${href}">`;
    const others = ['javascript:1', 'file:///etc/passwd', 'http://', 'data:,x'];
    assert.deepEqual(announcedFeeds(others.map(link).join(''), PAGE), []);
    assert.equal(announcedFeeds(Array.from({ length: 1_000 }, (_, i) => link(`/${i}`)).join(''), PAGE).length, 10);
    assert.deepEqual(announcedFeeds('', PAGE), []);
    const startedAt = performance.now();
    for (const hostile of ['<', '<link ', '<link rel="', '<!--', '<a '.repeat(2), '<div>'])
      announcedFeeds(hostile.repeat(200_000), PAGE);
    announcedFeeds(`<link ${'a'.repeat(500_000)}`, PAGE);
    announcedFeeds(`<link rel="${' '.repeat(500_000)}" type="${';'.repeat(1_000)}" href="x">`, PAGE);
    assert.ok(performance.now() - startedAt < 10_000);
  });
});
