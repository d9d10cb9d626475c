// What @strata/feeds offers.
export * from './feed.ts';
