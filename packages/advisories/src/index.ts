// What @strata/advisories offers: advisories in one form, and whether a seen product is affected by one.
export * from './advisory.ts';
export { CPE_ATTRIBUTES, type Cpe, parseCpe, productKeyOf } from './cpe.ts';
export { type CpeRelation, compareCpeValues } from './cpe-compare.ts';
export type { CpeValue } from './cpe-value.ts';
export {
  type CompiledAdvisory,
  compileAdvisory,
  type Judgement,
  judge,
  judgeCompiled,
  productKeysOf,
  type Reason,
  type SeenProduct,
} from './judge.ts';
export { isInRange, rangeInWords } from './ranges.ts';
export {
  compareVersions,
  type DistributionVersion,
  distributionOf,
  readVersion,
  type VersionKey,
} from './version.ts';
