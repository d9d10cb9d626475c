import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Fetched } from '@strata/scan';
import { feedsOfPage } from './look-at-page.ts';

const URL_ASKED = 'https://example.com/';
const answered = (type: string, body: string, status = 200): Fetched => ({
  kind: 'answered',
  status,
  headers: { 'content-type': type },
  url: 'https://www.example.com/',
  redirects: [],
  body: Buffer.from(body),
  isTruncated: false,
});
const look = (answer: Fetched) => feedsOfPage({ fetch: async () => answer }, URL_ASKED);

describe('a look at an address', () => {
  it('finds the feeds of a page, seen from where it was found', async () => {
    const html = '<!doctype html><link rel="alternate" type="application/rss+xml" href="/feed">';
    assert.deepEqual(await look(answered('text/html; charset=utf-8', html)), ['https://www.example.com/feed']);
    assert.deepEqual(await look(answered('TEXT/HTML', '<p>nothing')), []);
  });

  it('leaves alone what is a feed, or cannot be asked', async () => {
    assert.equal(await look(answered('application/rss+xml', '<rss/>')), undefined);
    assert.equal(await look(answered('text/html', ' \n<?xml version="1.0"?><rss/>')), undefined);
    assert.equal(await look(answered('text/html', '<p>x', 404)), undefined);
    assert.equal(await look({ kind: 'failed', reason: 'timeout', detail: 'late', redirects: [] }), undefined);
  });
});
