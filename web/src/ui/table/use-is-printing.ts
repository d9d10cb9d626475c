// Whether the page is being printed.
import { useSyncExternalStore } from 'react';

const print = matchMedia('print');

function subscribe(listener: () => void): () => void {
  print.addEventListener('change', listener);
  return () => print.removeEventListener('change', listener);
}

export function useIsPrinting(): boolean {
  return useSyncExternalStore(subscribe, () => print.matches);
}
