// The tiny models of the demo and of tests.
import path from 'node:path';

/**
 * GGUF file of a model with 2.4 million parameters, trained on a small closed domain (DNS, mail security, providers,
 * receipts, Strata itself): it answers questions about these, and produces nonsense about everything else. See
 * models/README.md.
 */
export const tinyChatModel = path.join(import.meta.dirname, '../../models/strata-tiny-chat.gguf');
