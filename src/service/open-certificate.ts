import type { CleanupStack } from '../closers.ts';
import { CertificateStore } from '../tls/certificate-keeper.ts';
import type { ServiceOptions } from './service.ts';

/** The certificate of the public listener; null where it speaks plain HTTP. */
export function openCertificate(options: ServiceOptions, closers: CleanupStack): CertificateStore | null {
  const { clock, logger, listen } = options;
  const tls = listen?.tls ?? null;
  if (tls === null) return null;
  const keeper = new CertificateStore({
    files: tls,
    clock,
    onExpiryWarning: (secondsLeft) => {
      const told = { file: tls.certificateFile, secondsLeft };
      if (secondsLeft > 0) logger.warn(told, 'certificate expires soon');
      else logger.error(told, 'certificate has expired');
    },
  });
  closers.defer(() => keeper.close());
  return keeper;
}
