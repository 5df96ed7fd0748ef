/** How many bytes of script a first visit may load, as gzip. */
export const FIRST_SCRIPTS_MAX = 120 * 1024
