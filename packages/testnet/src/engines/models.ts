// The tiny models of demo and tests.
import path from 'node:path';

/**
 * GGUF file of a model of 2.4 million parameters, trained on a small closed domain (DNS, mail security, providers, receipts,
 * Strata itself): it answers questions about these, and talks nonsense about everything else. models/README.md has more.
 */
export const tinyChatModel = path.join(import.meta.dirname, '../../models/strata-tiny-chat.gguf');
