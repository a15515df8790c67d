set encoding utf8
set datafile separator tab
set title 'A title''s `title`'."\n".'of a \xff<b>&"'']]> |*'."\n".'profile documented, digest 0x1' noenhanced
set xlabel 'time'.' ('.'ms'.')' noenhanced
set logscale x 10
set format x '%.0f'
set xrange [1000000.0/1000000/1.25:2500000.0/1000000*1.25]
set ylabel 'records' noenhanced
set yrange [0:18446744073709551615.0/1*1.05]
set grid xtics ytics linetype 1 linewidth 0.7 linecolor rgb '#dddddd'
set border 3
set tics nomirror out
set bmargin 9
set key at graph 0, screen 0.01 left bottom Left reverse maxcols 1 noenhanced
set object 1 rectangle from 1000000/1000000.0, graph 0 to 1500000/1000000.0, graph 1 fillcolor rgb '#f3d9d9' fillstyle solid noborder behind
set terminal svg size 960,640 font 'sans,12' background rgb '#ffffff'
set output 'kit'.'.svg'
plot \
    'kit'.'.tsv' using ($1==1 ? $2/1000000.0 : NaN):($3/1.0) with steps dashtype 1 linewidth 2 linecolor rgb '#0072b2' title 'it''s `date` $(x) a \xff<b>&"'']]> |*' noenhanced, \
    'kit'.'.tsv' using ($1==2 ? $2/1000000.0 : NaN):($3/1.0) with steps dashtype 2 linewidth 2 linecolor rgb '#0072b2' title 'empty' noenhanced, \
    'kit'.'.tsv' using ($1==3 ? $2/1000000.0 : NaN):($3/1.0) with linespoints pointtype 7 pointsize 0.8 dashtype 1 linewidth 2 linecolor rgb '#d55e00' title 'one' noenhanced, \
    NaN with boxes fillcolor rgb '#f3d9d9' fillstyle solid noborder title 'down' noenhanced
set terminal pngcairo size 1200,800 font 'sans,12' background rgb '#ffffff'
set output 'kit'.'.png'
replot
set output
