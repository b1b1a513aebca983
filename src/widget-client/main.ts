import shell from './styles/shell.css';

console.debug('svc-offers', shell.length);
