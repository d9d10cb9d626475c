// What the tests of this package use.
export * from './advisories.ts';
export * from './described.ts';
export * from './fake-web.ts';
export * from './harness.ts';
export * from './polling.ts';
export * from './recorded-scans.ts';
export * from './shared.ts';
export * from './stream-reader.ts';
export * from './timeline.ts';
