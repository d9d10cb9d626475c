// Reads the advisory publishers' responses for tests.
import assert from 'node:assert/strict';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import type { AdvisorySources } from '../advisories/sources.ts';

export const DAY = 86_400_000;
export const START = Date.parse('2026-03-01T08:00:00.000Z');

export function page(sources: AdvisorySources, query: Record<string, string>) {
  type Cve = Record<'id' | 'published' | 'lastModified', string>;
  const url = `${sources.nvdUrl}?${new URLSearchParams(query)}`;
  return json<{ vulnerabilities: { cve: Cve }[]; totalResults: number }>(url);
}

async function json<T = unknown>(url: string): Promise<T> {
  const response = await fetch(url);
  assert.equal(response.status, 200, `${url} ${response.headers.get('message')}`);
  return (await response.json()) as T;
}

export async function epssLines({ epssUrl }: AdvisorySources): Promise<string[]> {
  const bytes = await (await fetch(epssUrl)).arrayBuffer();
  return gunzipSync(bytes).toString().trimEnd().split('\n');
}

/** The names and contents of a zip, from its central directory. */
export function unzip(file: Buffer): Map<string, () => Buffer> {
  const found = new Map<string, () => Buffer>();
  const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  let at = file.readUInt32LE(end + 16);
  while (file.toString('latin1', at, at + 4) === 'PK\x01\x02') {
    const nameBytes = file.readUInt16LE(at + 28);
    const name = file.toString('utf8', at + 46, at + 46 + nameBytes);
    const local = file.readUInt32LE(at + 42);
    const start = local + 30 + file.readUInt16LE(local + 26) + file.readUInt16LE(local + 28);
    const data = file.subarray(start, start + file.readUInt32LE(at + 20));
    const isDeflated = file.readUInt16LE(at + 10) === 8;
    found.set(name, () => (isDeflated ? inflateRawSync(data) : data));
    at += 46 + nameBytes + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  return found;
}

export async function baselineUrl(sources: AdvisorySources): Promise<string> {
  const url = `${sources.cveListUrl}/releases/latest`;
  const { assets } = await json<{ assets: { name: string; browser_download_url: string }[] }>(url);
  assert.match(assets[0]?.name ?? '', /^\d{4}-\d\d-\d\d_all_CVEs_at_midnight\.zip\.zip$/);
  return assets[0]?.browser_download_url ?? '';
}
