// Evidence of a domain in which every factor of the score has full points; tests break it part by part.
import { casesOf } from '../../../../tests/support/vectors.ts';
import { readEvidence } from '../evidence/reading.ts';
import { posture } from '../posture/posture.ts';
import type { FactorName, Posture } from '../posture/posture-type.ts';
import type { Rulebook } from '../rulebook/rulebook.ts';
import { type EvidenceParts, evidenceOf } from './evidence-of.ts';

export const postureOf = (parts: EvidenceParts, rulebook?: Rulebook): Posture =>
  posture(readEvidence(evidenceOf(parts)), rulebook);
export const factorIn = ({ factors }: Posture, name: FactorName) => factors.find(({ factor }) => factor === name);
export const factorOf = (parts: EvidenceParts, name: FactorName) => factorIn(postureOf(parts), name);

export const best: EvidenceParts = casesOf('detect', 'best posture');
